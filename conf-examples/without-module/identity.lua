-- Who asks, for lighttpd without the module: looks a client's key up in the
-- file of keys, and signs its workspace for one request (docs/operator.md).

local secret_file = "/etc/retort/identity.secret"
local keys_file = "/etc/retort/keys"

local r = lighty.r


-- the workspace and the scopes of a key

local function find(key)
    local hash = string.lower(lighty.c.md("sha256", key))

    for line in io.lines(keys_file) do
        local name, sum, rest = line:match("^([%w._-]+):(%x+)(.*)$")

        if sum and string.lower(sum) == hash then
            return name, rest:match("^:[^:]*:([%w,]*)") or ""
        end
    end
end


local function secret()
    for line in io.lines(secret_file) do
        if line ~= "" and line ~= "required" and line:sub(1, 1) ~= "#" then
            return line
        end
    end
end


local given = r.req_header["Authorization"] or ""
local key = given:match("^[Bb][Ee][Aa][Rr][Ee][Rr] +(.+)$")
            or r.req_header["X-Api-Key"]

r.req_env["RETORT_IDENTITY"] = ""

if key then
    local name, scopes = find(key)

    if name then
        local said = os.time() .. ":" .. name .. ":" .. scopes
        local text = "retort-identity " .. said .. " "
                     .. r.req_attr["request.method"] .. " "
                     .. r.req_attr["request.orig-uri"]

        r.req_env["RETORT_IDENTITY"] = said .. ":"
            .. string.lower(lighty.c.hmac("sha256", secret(), text))
    end
end

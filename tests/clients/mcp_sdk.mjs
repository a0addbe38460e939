
// The official SDK of the first generation: sessions.

import { load, url, key, ok, is, end } from './lib/check.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } =
    load('@modelcontextprotocol/sdk/client/streamableHttp.js');

const client = new Client({ name: 'test', version: '1' });
const transport = new StreamableHTTPClientTransport(new URL(url + '/mcp'), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
});

await client.connect(transport);
ok(/^mcp_/.test(transport.sessionId), 'a session is opened');

const { tools } = await client.listTools();
ok(tools.some((t) => t.name === 'python'), 'tools are listed');

function python(code) {
    return client.callTool({ name: 'python', arguments: { code } });
}

let r = await python('x = 6\nprint("hi")');
is(r.structuredContent.stdout, 'hi\n', 'code runs');
r = await python('x * 7');
is(r.structuredContent.result, '42', 'in one sandbox');
is(JSON.parse(r.content[0].text), r.structuredContent, 'the text is its twin');
r = await python('1/0');
ok(r.isError, 'an error result fits the schema, or the client would throw');

await transport.terminateSession();
await client.close();
end();

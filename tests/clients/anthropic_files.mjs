
// Anthropic's SDK, of both kinds: one speaks the Files API of today, one that
// of its beta.

import { load, url, key, ok, is, fails, end } from './lib/check.mjs';

const name = process.env.RETORT_SDK;
const { Anthropic, toFile } = load(name);
const old = name.endsWith('-0');
const client = new Anthropic({ baseURL: url + '/anthropic', maxRetries: 0,
    ...(old ? { apiKey: key } : { authToken: key }) });
const files = client.beta.files;

function named(text) {
    return `${old ? 'SDK 0.x' : 'SDK 1.x'}: ${text}`;
}

function upload(content, filename, type, more = {}) {
    return toFile(Buffer.from(content), filename, { type })
        .then((file) => files.upload({ file, ...more }));
}

const file = await upload('a,b\n1,2\n', 'data.csv', 'text/csv');
ok(/^file_/.test(file.id), named('a file is uploaded'));
is([file.type, file.filename, file.mime_type, file.size_bytes],
    ['file', 'data.csv', 'text/csv', 8], named('as what it is'));
ok(!Number.isNaN(Date.parse(file.created_at)), named('at a time'));

if (!old) {
    is((await client.files.retrieveMetadata(file.id)).id, file.id,
        named('files are no beta any more'));
}

is((await files.retrieveMetadata(file.id)).id, file.id,
    named('it is found again'));

let e = await fails(files.download(file.id),
    named('what was uploaded is not given back'));
is([e.status, e.error?.error?.type, e.error?.error?.details?.error_code],
    [400, 'invalid_request_error', 'file_not_downloadable'],
    named('with a reason'));
ok(/^req_/.test(e.requestID ?? e.request_id ?? ''),
    named('an error has its id'));

const ids = [file.id];

for (let i = 0; i < 4; i++) {
    ids.unshift((await upload(`${i}`, `${i}.txt`, 'text/plain')).id);
}

const seen = [];

for await (const f of files.list({ limit: 2 })) {
    seen.push(f.id);
}

is(seen, ids, named('a list goes on from page to page, the newest first'));

if (!old) {
    const some = [];

    for await (const f of client.files.list({ ids: [ids[2], ids[0], ids[2]] })) {
        some.push(f.id);
    }

    is(some, [ids[2], ids[0]], named('files are looked up by their ids'));

    const short = await upload('x', 'x', 'text/plain',
        { expires_in_seconds: 3600 });
    const left = Date.parse(short.expires_at) - Date.parse(short.created_at);

    ok(left > 3590e3 && left < 3610e3, named('a file may have an end'));
    await files.delete(short.id);
}

for (const id of ids) {
    is(await files.delete(id), { id, type: 'file_deleted' },
        named('a file is deleted'));
}

e = await fails(files.retrieveMetadata(file.id), named('it is gone'));
is([e.status, e.constructor.name, e.error?.error?.message],
    [404, 'NotFoundError', `File \`${file.id}\` not found.`],
    named('as the SDK tells it'));

const stranger = new Anthropic({ baseURL: url + '/anthropic', apiKey: 'no',
    authToken: null, maxRetries: 0 });
e = await fails(stranger.beta.files.list(), named('a key is needed'));
is([e.status, e.constructor.name], [401, 'AuthenticationError'],
    named('or it is refused'));
end();

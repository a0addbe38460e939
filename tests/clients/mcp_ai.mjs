
// Vercel's AI SDK: the newer era first, without being told.

import { load, url, key, ok, is, end } from './lib/check.mjs';

const { createMCPClient } = load('@ai-sdk/mcp');

const client = await createMCPClient({ transport: {
    type: 'http', url: url + '/mcp',
    headers: { Authorization: `Bearer ${key}` },
} });
const tools = await client.tools();

ok('python' in tools && 'read_file' in tools, 'tools are there');

let r = await tools.python.execute({ code: 'print(6 * 7)' },
    { messages: [], toolCallId: '1' });
is(r.structuredContent?.stdout, '42\n', 'and run');

const box = r.structuredContent?.sandbox_id;

r = await tools.write_file.execute(
    { path: 'a.txt', text: 'hi', sandbox_id: box },
    { messages: [], toolCallId: '2' });
r = await tools.read_file.execute({ path: 'a.txt', sandbox_id: box },
    { messages: [], toolCallId: '3' });
is(r.structuredContent?.text, 'hi', 'files are in the sandbox that is named');
r = await tools.python.execute({ code: 'nothing' },
    { messages: [], toolCallId: '4' });
ok(r.isError, 'an error comes as a result');

await client.close();
end();


// The official SDK of the first generation: sessions.

import { load, url, key, ok, is, fails, until, end } from './lib/check.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } =
    load('@modelcontextprotocol/sdk/client/streamableHttp.js');

const client = new Client({ name: 'test', version: '1' });
const transport = new StreamableHTTPClientTransport(new URL(url + '/mcp'),
    { requestInit: { headers: { authorization: `Bearer ${key}` } } });

function python(code, options) {
    return client.callTool({ name: 'python', arguments: { code } }, undefined,
        options);
}

await client.connect(transport);
ok(/^mcp_/.test(transport.sessionId), 'a session is opened');

const { tools } = await client.listTools();
ok(tools.some((t) => t.name === 'python'), 'tools are listed');

let r = await python('x = 6\nprint("hi")');
is(r.structuredContent.stdout, 'hi\n', 'code runs');
r = await python('x * 7');
is(r.structuredContent.result, '42', 'in one sandbox');
is(JSON.parse(r.content[0].text), r.structuredContent, 'the text is its twin');
r = await python('1/0');
ok(r.isError, 'an error result fits the schema, or the client would throw');
r = await python('import matplotlib.pyplot as plt\n'
    + 'plt.plot([1, 2])\nplt.show()');
is(r.content[1]?.type, 'image', 'a figure is an image');

// progress

const lines = [];
r = await python('import time\nfor i in range(3):\n'
    + '    print(i)\n    time.sleep(0.1)', {
    onprogress: (p) => lines.push(p.message), resetTimeoutOnProgress: true,
});
is(lines, ['0', '1', '2'], 'lines are told as they come');
is(r.structuredContent.stdout, '0\n1\n2\n', 'and the result has them');

// an end

const stop = new AbortController();
const begun = [];
const long = fails(python('print("on", flush=True)\n'
    + 'import time\ntime.sleep(15)\nopen("late", "w").close()', {
    signal: stop.signal, onprogress: (p) => begun.push(p.message),
}), 'a call is cancelled');
ok(await until(() => begun.length === 1), 'when it runs');
stop.abort('enough');
await long;
r = await python('import os; os.path.exists("late")');
is(r.structuredContent.result, 'False', 'the code does not come to its end');

// files

await client.callTool({ name: 'write_file',
    arguments: { path: 'a.txt', text: 'hi' } });
r = await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } });
is(r.structuredContent.text, 'hi', 'files are written and read');
const { resources } = await client.listResources();
const file = resources.find((x) => x.name === 'a.txt');
r = await client.readResource({ uri: file.uri });
is(r.contents[0].text, 'hi', 'and are resources');
r = await client.getPrompt({ name: 'run_code' });
ok(r.messages[0].content.text.includes('sandbox_id'), 'the skill is a prompt');
await fails(client.readResource({ uri: 'retort://none' }),
    'what is not there is an error');

await transport.terminateSession();
is(transport.sessionId, undefined, 'the session is ended');
await client.close();
end();

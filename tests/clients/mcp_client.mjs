
// The official SDK of the second generation, in each of its modes.

import { load, url, key, ok, is, fails, until, end } from './lib/check.mjs';

const { Client, StreamableHTTPClientTransport } =
    load('@modelcontextprotocol/client');

async function open(mode) {
    const client = new Client({ name: 'test', version: '1' },
        { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(
        new URL(url + '/mcp'),
        { requestInit: { headers: { authorization: `Bearer ${key}` } } });

    await client.connect(transport);

    return { client, transport };
}

// who has no session names the sandbox

async function use(mode) {
    const { client, transport } = await open(mode);
    const name = typeof mode === 'string' ? mode : 'pinned';
    const call = (tool, args, options) =>
        client.callTool({ name: tool, arguments: args }, options);

    is(transport.sessionId !== undefined, mode === 'legacy',
        `${name}: a session only in the older era`);
    ok((await client.listTools()).tools.some((t) => t.name === 'bash'),
        `${name}: tools are listed`);

    let r = await call('python', { code: 'x = 6' });
    const box = r.structuredContent.sandbox_id;

    r = await call('bash', { code: 'echo hi; exit 3', sandbox_id: box });
    is([r.structuredContent.stdout, r.structuredContent.exit_code],
        ['hi\n', 3], `${name}: bash runs`);

    const lines = [];
    r = await call('python', { sandbox_id: box,
        code: 'import time\nprint("a")\ntime.sleep(0.2)\nprint("b")\nx * 7' },
        { onprogress: (p) => lines.push(p.message) });
    is(lines, ['a', 'b'], `${name}: lines are told as they come`);
    is(r.structuredContent.result, '42', `${name}: variables stay`);
    r = await call('python', { code: '1/0', sandbox_id: box });
    ok(r.isError && r.content[0].text.includes('ZeroDivisionError'),
        `${name}: a failure is an error, with its traceback`);

    await stopped(client, call, box, name, true);
    await stopped(client, call, box, name, false);

    r = await client.readResource({ uri: 'retort://skill' });
    ok(r.contents[0].text.startsWith('# Running code'),
        `${name}: the skill is a resource`);
    is((await client.listPrompts()).prompts.map((p) => p.name), ['run_code'],
        `${name}: and a prompt`);
    await fails(client.callTool({ name: 'none', arguments: {} }),
        `${name}: an unknown tool is an error`);
    await client.close();
}

// with progress a stream is open, without not one byte has come

async function stopped(client, call, box, name, told) {
    const stop = new AbortController();
    const file = told ? 'told' : 'silent';
    const long = fails(call('python', { sandbox_id: box, code:
        `open("${file}.on", "w").close()\nprint("on", flush=True)\n`
        + `import time\ntime.sleep(15)\nopen("${file}.late", "w").close()` },
        { signal: stop.signal, ...told ? { onprogress: () => {} } : {} }),
        `${name}, ${file}: a call is cancelled`);

    // a sandbox that is busy shows no files; the run is on when it is
    ok(await until(() => running(box)), `${name}, ${file}: while it runs`);
    stop.abort('enough');
    await long;

    const r = await call('bash',
        { sandbox_id: box, code: `ls | grep -c ${file}.late` });
    is(r.structuredContent.stdout, '0\n',
        `${name}, ${file}: and does not come to its end`);
}

async function running(box) {
    const r = await fetch(`${url}/v1/sandboxes/${box}`,
        { headers: { authorization: `Bearer ${key}` } });

    return (await r.json()).status === 'running';
}

await use('legacy');
await use('auto');
await use({ pin: '2026-07-28' });
end();

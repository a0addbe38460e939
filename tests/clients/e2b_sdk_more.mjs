// E2B's client: sandboxes, files, contexts, and who may do what.

import { load, url, key, ok, is, fails, end } from './lib/check.mjs';

const { Sandbox } = load('@e2b/code-interpreter');
const opts = { apiKey: key, apiUrl: url, sandboxUrl: url };
const other = { ...opts, apiKey: process.env.RETORT_OTHER };

const sbx = await Sandbox.create({ ...opts, timeoutMs: 60_000,
    metadata: { user: 'a b&c=d', n: '1' } });
const second = await Sandbox.create(opts);

// sandboxes

const info = await sbx.getInfo();
is([info.sandboxId, info.templateId, info.state],
    [sbx.sandboxId, 'code-interpreter-v1', 'running'], 'a sandbox is shown');
is(info.metadata, { user: 'a b&c=d', n: '1' }, 'with its metadata');
ok(info.endAt - info.startedAt <= 61_000, 'and its end');

async function list(query, o = opts) {
    const items = await Sandbox.list({ ...o, query }).nextItems();
    return items.map((i) => i.sandboxId).sort();
}

is(await list(), [sbx.sandboxId, second.sandboxId].sort(), 'all are listed');
is(await list({ metadata: { user: 'a b&c=d' } }), [sbx.sandboxId],
    'those with some metadata, too');
is(await list({ metadata: { user: 'else' } }), [], 'and no others');
is(await list({}, other), [], 'nobody sees those of others');

const before = info.endAt;
await sbx.setTimeout(300_000);
ok((await sbx.getInfo()).endAt - before > 200_000, 'a sandbox lives longer');
await second.setTimeout(1_000);
let waited = 0;
while (await second.isRunning() && waited++ < 600) {
    await new Promise((done) => setTimeout(done, 50));
}
ok(!await second.isRunning(), 'or for less, and ends by itself');

await sbx.runCode('x = 6');
const again = await Sandbox.connect(sbx.sandboxId, opts);
is((await again.runCode('x * 7')).text, '42', 'another client goes on in it');

// files

let f = await sbx.files.write('/home/user/in/a.csv', 'a,b\n1,2\n');
is([f.name, f.type, f.path], ['a.csv', 'file', '/home/user/in/a.csv'],
    'a file is written');
let r = await sbx.runCode('open("/home/user/in/a.csv").read()');
is(r.text, "'a,b\\n1,2\\n'", 'code finds it by the same name');
await sbx.runCode('open("out.bin", "wb").write(bytes(range(256)))');
const bytes = await sbx.files.read('out.bin', { format: 'bytes' });
is([...bytes], [...Array(256).keys()], 'what code writes is read, byte by byte');
is(await sbx.files.read('/home/user/in/a.csv'), 'a,b\n1,2\n', 'as text, too');
f = await sbx.files.write([{ path: 'm/1.txt', data: '1' },
    { path: '/home/user/m/2.txt', data: '' }]);
is(f.map((v) => v.path), ['/home/user/m/1.txt', '/home/user/m/2.txt'],
    'several files are written');
is(await sbx.files.read('m/2.txt'), '', 'an empty one is read');
let e = await fails(sbx.files.read('none.txt'), 'a file that is not there');
ok(/NotFound/.test(e.name), 'is not found');
e = await fails(sbx.files.read('/etc/passwd'), 'a file elsewhere');
is(e.name, 'InvalidArgumentError', 'is refused');
await fails(sbx.files.write('../up.txt', 'x'), 'so is a way out');

// contexts

const one = await sbx.createCodeContext({ cwd: '/home/user/m' });
const two = await sbx.createCodeContext({ language: 'bash' });
is([one.language, one.cwd, two.language, two.cwd],
    ['python', '/home/user/m', 'bash', '/home/user'], 'contexts are made');
await sbx.runCode('x = "one"', { context: one });
is((await sbx.runCode('x')).text, '6', 'each has variables of its own');
is((await sbx.runCode('x', { context: one })).text, "'one'", 'that stay');
is((await sbx.runCode('import os; os.listdir()', { context: one })).text
    .includes("'1.txt'"), true, 'and a folder of its own');
is((await sbx.runCode('os.getcwd()')).error?.name, 'NameError',
    'imports are variables');
is((await sbx.runCode('echo $0 $((6 * 7))', { context: two }))
    .logs.stdout.join('').endsWith(' 42\n'), true, 'one of bash runs bash');
is((await sbx.listCodeContexts()).map((c) => c.id).sort(),
    ['default', one.id, two.id].sort(), 'they are listed');
await sbx.restartCodeContext(one);
is((await sbx.runCode('x', { context: one })).error?.name, 'NameError',
    'a restart forgets variables');
is((await sbx.runCode('x')).text, '6', 'of that context alone');
await sbx.removeCodeContext(one.id);
e = await fails(sbx.runCode('1', { context: one }), 'a context that is gone');
ok(/NotFound/.test(e.name), 'is not found');
await sbx.restartCodeContext('default');
is((await sbx.runCode('x')).error?.name, 'NameError',
    'the default one is restarted');
await fails(sbx.createCodeContext({ cwd: '/none' }), 'a folder must be there');
is((await sbx.listCodeContexts()).length, 2, 'or there is no context');

// who may do what

e = await fails(Sandbox.create({ ...opts, apiKey: 'wrong' }), 'a wrong key');
is(e.name, 'AuthenticationError', 'is told as such');
e = await fails(Sandbox.connect(sbx.sandboxId, other), 'another workspace');
ok(/NotFound/.test(e.name), 'finds nothing');
ok(!await Sandbox.kill(sbx.sandboxId, other), 'and kills nothing');

async function status(path, headers, method = 'GET') {
    return (await fetch(url + path, { method, headers })).status;
}

const mine = { 'e2b-sandbox-id': sbx.sandboxId,
    'x-access-token': sbx.envdAccessToken };
is(await status('/health', mine), 204, 'a token opens its sandbox');
is(await status('/contexts', mine), 200, 'and all in it');
is(await status('/v2/sandboxes', mine), 403, 'but not the service');
is(await status('/sandboxes/' + sbx.sandboxId, mine, 'DELETE'), 403,
    'nor its end');
const third = await Sandbox.create(opts);
is(await status('/health', { ...mine, 'e2b-sandbox-id': third.sandboxId }), 401,
    'nor another sandbox');
is(await status('/health', { ...mine, 'x-access-token':
    'other' + sbx.envdAccessToken.slice(4) }), 401, 'nor for another workspace');
is(await status('/health', { 'e2b-sandbox-id': sbx.sandboxId }), 401,
    'an id alone opens nothing');
await fails(Sandbox.create('no-such-template', opts), 'an unknown template');
await fails(Sandbox.create({ ...opts, allowInternetAccess: true }),
    'a network that there is not');
await fails(Sandbox.create({ ...opts, timeoutMs: 86_400_000 }),
    'a life that is too long');
ok(await sbx.kill() && await third.kill(), 'all end');
end();

// the client's timers would keep it for a minute more
process.stdout.write('', () => process.exit(0));

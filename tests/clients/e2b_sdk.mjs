// E2B's client: code, what it shows, its errors.

import { load, url, key, ok, is, fails, end } from './lib/check.mjs';

const { Sandbox } = load('@e2b/code-interpreter');
const opts = { apiKey: key, apiUrl: url, sandboxUrl: url };

const sbx = await Sandbox.create({ ...opts, timeoutMs: 120_000,
    envs: { WHO: 'sandbox', N: '1' } });

ok(/^sbx_/.test(sbx.sandboxId), 'a sandbox is made');
ok(await sbx.isRunning(), 'it runs');

const seen = [];
let r = await sbx.runCode(
    'import sys\nprint("one", flush=True)\n'
    + 'print("two", file=sys.stderr, flush=True)\nx = 6\nx * 7', {
        onStdout: (m) => seen.push('out ' + m.line),
        onStderr: (m) => seen.push('err ' + m.line),
        onResult: (m) => seen.push('result ' + m.text),
    });
is(r.text, '42', 'the last value is the result');
is(r.logs, { stdout: ['one\n'], stderr: ['two\n'] }, 'streams are told apart');
is(seen.sort(), ['err two\n', 'out one\n', 'result 42'], 'each has its call');
is(r.executionCount, 1, 'runs are counted');
r = await sbx.runCode('x + 1');
is([r.text, r.executionCount], ['7', 2], 'variables stay');
r = await sbx.runCode('import os; os.environ["WHO"] + os.environ["N"]',
    { envs: { N: '2' } });
is(r.text, "'sandbox2'", 'variables of the sandbox and of the run are set');
r = await sbx.runCode('echo $WHO; pwd', { language: 'bash' });
is(r.logs.stdout.join(''), 'sandbox\n/workspace\n', 'bash runs');

// what is shown

r = await sbx.runCode(`
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [2, 4, 8], label="a")
plt.title("T"); plt.xlabel("X"); plt.ylabel("Y")
plt.show()`);
is(r.results.length, 1, 'a figure is one result');
ok(/^iVBORw0KGgo/.test(r.results[0].png), 'with its picture');
ok(!r.results[0].isMainResult, 'which is not the value of the code');
const chart = r.results[0].chart;
is([chart.type, chart.title, chart.x_label, chart.y_label],
    ['line', 'T', 'X', 'Y'], 'and its chart');
is(chart.elements[0].points, [[1, 2], [2, 4], [3, 8]], 'with the points');
is(r.results[0].formats(), ['png', 'chart'].filter((f) =>
    r.results[0].formats().includes(f)), 'no other form is claimed');

const charts = {
    scatter: ['plt.scatter([1, 2], [3, 4], label="d")',
        { label: 'd', points: [[1, 3], [2, 4]] }],
    bar: ['plt.bar(["a"], [3], label="g")',
        { label: 'a', value: 3, group: 'g' }],
    pie: ['plt.pie([1, 3], labels=["u", "v"])',
        { label: 'u', angle: 90, radius: 1 }],
    box_and_whisker: ['plt.boxplot([[1, 2, 3, 4, 20]], labels=["A"])',
        { label: 'A', min: 1, first_quartile: 2, median: 3,
            third_quartile: 4, max: 4, outliers: [20] }],
};

for (const [kind, [code, first]] of Object.entries(charts)) {
    r = await sbx.runCode(`${code}\nplt.show()`);
    is([r.results[0].chart.type, r.results[0].chart.elements[0]],
        [kind, first], `a chart may be ${kind}`);
}

r = await sbx.runCode('f, (a, b) = plt.subplots(1, 2)\na.plot([1, 2])\n'
    + 'b.bar(["x"], [2])\nplt.show()');
is([r.results[0].chart.type, ...r.results[0].chart.elements.map((c) => c.type)],
    ['superchart', 'line', 'bar'], 'or of several');

r = await sbx.runCode(
    'import pandas as pd\npd.DataFrame({"a": [1, 2], "b": ["x", None]})');
ok(/^<div>/.test(r.results[0].html), 'a table has HTML');
is(r.results[0].data, { a: [1, 2], b: ['x', null] }, 'and its columns');
ok(/a +b/.test(r.text), 'and a text');

r = await sbx.runCode(`
from IPython.display import display, HTML, JSON, Markdown, SVG, Latex
display(HTML("<b>h</b>"))
display(JSON({"k": [1, {"n": None}]}))
display(Markdown("# m"))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg"/>'))
display(Latex("$x$"))`);
is(r.results.map((v) => v.formats()[0]),
    ['html', 'json', 'markdown', 'svg', 'latex'], 'displays keep their form');
is([r.results[0].html, r.results[1].json, r.results[2].markdown,
    r.results[4].latex], ['<b>h</b>', { k: [1, { n: null }] }, '# m', '$x$'],
'and their contents');
ok(/^<svg/.test(r.results[3].svg), 'a drawing, too');

// errors

r = await sbx.runCode('print("before")\n1 / 0');
is([r.error.name, r.error.value], ['ZeroDivisionError', 'division by zero'],
    'an exception has name and value');
ok(/Traceback[^]*1 \/ 0[^]*ZeroDivisionError: division by zero/
    .test(r.error.traceback), 'and its traceback');
is(r.logs.stdout, ['before\n'], 'what was said before it is kept');
r = await sbx.runCode('exit 3', { language: 'bash' });
is([r.error.name, /exit code 3/.test(r.error.value)], ['ExitCode', true],
    'a script that fails is an error');
r = await sbx.runCode('import os; os._exit(1)');
is(r.error.name, 'Killed', 'an interpreter that ends is an error');
is((await sbx.runCode('1')).text, '1', 'behind which there is a new one');

let e = await fails(sbx.runCode('while True: pass', { timeoutMs: 300 }),
    'a run ends when its client has waited long enough');
is(e.name, 'TimeoutError', 'as a timeout');
is((await sbx.runCode('2')).text, '2', 'and does not go on behind that');

e = await fails(sbx.runCode('1', { language: 'cobol' }), 'no other language');
ok(/400/.test(e.message), 'which is refused');

// the run goes on until its line has been read, and the sandbox is killed

let read;
const line = new Promise((done) => { read = done; });
const live = sbx.runCode('import time\nprint("ready")\n'
    + 'while True: time.sleep(0.01)', { onStdout: read, timeoutMs: 60_000 })
    .then((v) => v.error, (v) => v);
is((await line).line, 'ready\n', 'a line is read while its run goes on');
ok(await sbx.kill(), 'a sandbox is killed');
ok((await live)?.name, 'which ends what runs in it');
ok(!await sbx.isRunning(), 'it does not run any more');
ok(!await sbx.kill(), 'and cannot be killed again');
e = await fails(sbx.runCode('1'), 'nothing runs in it');
is(e.name, 'TimeoutError', 'which the client takes for its timeout');
ok(/sandbox was not found/i.test(e.message), 'and tells');
end();

// the client's timers would keep it for a minute more
process.stdout.write('', () => process.exit(0));

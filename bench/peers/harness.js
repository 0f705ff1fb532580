// What the adapters of peers in JavaScript have in common: the words of the contract (README.md).
const { dirname, resolve } = require('node:path');
const { createRequire } = require('node:module');
const { once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const { readFileSync, writeSync } = require('node:fs');

const BODY = 'abcdefghijklmnopqrst'.repeat(10);
const BULK = 1000;
const HOUR_MS = 3_600_000;

const say = (figures) => writeSync(1, `${JSON.stringify(figures)}\n`);
const monotonic = () => Number(process.hrtime.bigint()) / 1e9;

/** Seconds of CPU time of this process. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The setting of that name, out of the peer.json beside the adapter. */
function optionsOf(setting) {
  const { workers } = require(resolve(dirname(process.argv[1]), 'peer.json'));
  const { label, trial, ...options } = workers[setting];
  return options;
}

/** A package that install.sh has put into the CACHE. */
const fromCache = (name) => createRequire(resolve(process.argv[2], 'package.json'))(name);

/** Does the first of `count` steps. Once it has read a line, does the others, `some` a call. */
async function timed(count, some, step) {
  await step(0, 1);
  say({ ready: true });
  await once(process.stdin, 'data');
  process.stdin.destroy();
  const begin = monotonic();
  const spent = cpu();
  for (let i = 1; i < count; i += some) await step(i, Math.min(i + some, count));
  say({ count: count - 1, seconds: monotonic() - begin, cpu: cpu() - spent });
}

const delayed = (due) => ({ body: String(due).padEnd(BODY.length), due });

async function pushAll(peer, jobs, how) {
  if (how === 'one') {
    await timed(jobs.length, 1, (i) => peer.push(jobs[i]));
  } else if (peer.noBulk) {
    say({ absent: peer.noBulk });
  } else {
    await timed(jobs.length, BULK, (begin, end) => peer.pushMany(jobs.slice(begin, end)));
  }
  await peer.close();
}

/** A worker at a setting, which says so when it waits for jobs. */
async function begin(peer, setting, handle) {
  const options = optionsOf(setting);
  const worker = await peer.work(options, handle);
  say({ ready: true, worker: options });
  return worker;
}

/** A worker that handles `count` jobs, then stops; `done` says what it found. */
async function workUntil(peer, setting, count, handle, done) {
  let left = count;
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  const worker = await begin(peer, setting, async (body) => {
    handle(body);
    if (--left === 0) finish();
  });
  await finished;
  done();
  await worker.close();
  await peer.close();
}

const commands = {
  async push(peer, count, how) {
    await pushAll(peer, Array.from({ length: Number(count) }, () => ({ body: BODY })), how);
  },

  async delay(peer, count, spread, base, how) {
    const due = (i) => Math.floor(Number(base) + (i * Number(spread)) / Number(count));
    const jobs = Array.from({ length: Number(count) }, (_, i) => delayed(due(i)));
    await pushAll(peer, jobs, how);
  },

  async cancel(peer, count) {
    if (peer.noCancel) {
      say({ absent: peer.noCancel });
      return peer.close();
    }
    const hour = Date.now() + HOUR_MS;
    const jobs = [];
    for (let i = 0; i < Number(count); i++) jobs.push(await peer.push(delayed(hour + i)));
    await timed(Number(count), 1, (i) => peer.cancel(jobs[i]));
    return peer.close();
  },

  async work(peer, count, setting) {
    let first, last, spent;
    const note = () => {
      last = monotonic();
      first ??= last;
      spent ??= cpu();
    };
    await workUntil(peer, setting, Number(count), note, () =>
      say({ first, last, count: Number(count), cpu: cpu() - spent }),
    );
  },

  async listen(peer, count, setting) {
    const late = [];
    const note = (body) => late.push(performance.timeOrigin + performance.now() - Number(body));
    await workUntil(peer, setting, Number(count), note, () => say({ late_ms: late }));
  },

  async fair(peer, path, kind, setting) {
    const { groups, units, after, unit_ms: unit } = JSON.parse(readFileSync(path, 'utf8'));
    const heirs = new Map(Object.entries(after).map(([index, before]) => [before, Number(index)]));
    const left = new Set(groups.keys());
    const order = [];
    const push = (index) => {
      const body = String(index).padEnd(BODY.length);
      return peer.push(kind === 'groups' ? { body, group: groups[index] } : { body });
    };
    for (const [index, at] of units.entries()) if (at === 0) await push(index);
    let finish;
    const finished = new Promise((resolve) => (finish = resolve));
    const worker = await begin(peer, setting, async (body) => {
      const index = Number(body);
      order.push(index);
      left.delete(index);
      const due = order.length;
      for (const [other, at] of units.entries()) if (at === due) await push(other);
      await sleep(unit);
      if (heirs.has(index)) await push(heirs.get(index));
      if (left.size === 0) finish();
    });
    await finished;
    say({ order });
    await worker.close();
    await peer.close();
  },

  async idle(peer) {
    await begin(peer, 'one', async () => say({ handled: true, at: monotonic() }));
  },

  async hold(peer, seconds) {
    await peer.work(optionsOf('one'), async () => {
      say({ took: true, at: monotonic() });
      await sleep(Number(seconds) * 1000);
    });
  },
};
commands.rescue = commands.idle;

/**
 * Runs one command: adapter CACHE COMMAND ARGS... A peer has push({ body, due, group }), which
 * returns what cancel() takes; pushMany(jobs) or noBulk, which says why it has no such thing;
 * cancel(job) or noCancel; work(options, handle), which returns a worker with close() once it is
 * connected, and calls handle(body); and close().
 */
async function runPeer(peer) {
  process.on('SIGTERM', () => process.exit(0));
  const [, , , command, ...args] = process.argv;
  await commands[command](peer, ...args);
}

module.exports = { fromCache, runPeer };

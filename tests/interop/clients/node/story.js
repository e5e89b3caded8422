// What the stories of the node clients share: where the broker is, what is sent, what is said.
'use strict';

const { readFileSync } = require('node:fs');
const path = require('node:path');

const PATIENCE = 10_000;

const broker = {
  host: '127.0.0.1',
  port: Number(process.env.STOMP_PORT),
  transport: process.env.STOMP_TRANSPORT,
  version: process.env.STOMP_VERSION,
  queue: process.env.STOMP_QUEUE,
  login: 'guest',
  passcode: 'guest',
};

const sent = {
  text: 'héllo',
  binary: Uint8Array.from([0, 0xff, 0xfe, 0x80, 0x20, 0, 0x65, 0x6e, 0x64, 0x0a, 0]),
  escaped: 'a:b\\c\nd',
};

// Milliseconds between two beats, and of nothing but beats.
const beat = 1_000;
const silence = 3_500;

const why = {
  nack: '1.0 has no NACK',
  'heart-beat': '1.0 has no heart-beats',
  escapes: '1.0 has no escapes',
};

// Exports do not let the manifest of every package through, its file can be read all the same.
const peer = (name) => {
  const manifest = path.join(process.env.NODE_PATH, name, 'package.json');
  console.log(`peer ${name} ${JSON.parse(readFileSync(manifest, 'utf8')).version}`);
};

const ok = (...features) => features.forEach((feature) => console.log(`ok ${feature}`));

const lacks = (feature, reason = why[feature]) => console.log(`not ${feature}: ${reason}`);

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

// What arrives, in order, for whoever waits for it.
class Arrivals {
  #arrived = [];
  #waiting = [];

  put(it) {
    const next = this.#waiting.shift();
    if (next) next(it);
    else this.#arrived.push(it);
  }

  take(what) {
    if (this.#arrived.length > 0) return Promise.resolve(this.#arrived.shift());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${what} in ${PATIENCE} ms`)), PATIENCE);
      this.#waiting.push((it) => {
        clearTimeout(timer);
        resolve(it);
      });
    });
  }
}

const fail = (error) => {
  console.error(error);
  process.exit(1);
};

const play = (story) => story().then(() => process.exit(0), fail);

module.exports = { Arrivals, beat, broker, fail, lacks, ok, pause, peer, play, sent, silence };

// stompit.
'use strict';

const stompit = require('stompit');

const { Arrivals, beat, broker, fail, lacks, ok, pause, peer, play, sent, silence } =
  require('./story.js');

const headers = {
  host: '/',
  login: broker.login,
  passcode: broker.passcode,
  'accept-version': broker.version,
  'heart-beat': broker.version === '1.0' ? '0,0' : `${beat},${beat}`,
};

const connect = () =>
  new Promise((resolve, reject) => {
    const options = { host: broker.host, port: broker.port, connectHeaders: headers };
    stompit.connect(options, (error, client) => (error ? reject(error) : resolve(client)));
  });

// A whole message, its body an octet string.
const read = (message) =>
  new Promise((resolve, reject) => {
    const chunks = [];
    message.on('data', (chunk) => chunks.push(chunk));
    message.on('error', reject);
    message.on('end', () => resolve({ message, body: Buffer.concat(chunks) }));
  });

const equal = (is, shouldBe) => {
  if (is !== shouldBe) throw new Error(`${is} instead of ${shouldBe}`);
};

async function story() {
  const client = await connect();
  let isOver = false;
  client.on('error', (error) => isOver || fail(error));
  equal(client.headers.version ?? '1.0', broker.version);
  ok('connect');

  const arrivals = new Arrivals();
  const subscription = {
    destination: broker.queue,
    ack: broker.version === '1.0' ? 'client' : 'client-individual',
  };
  client.subscribe(subscription, async (error, message) => {
    if (error) return isOver || fail(error);
    arrivals.put(await read(message));
  });
  const message = async (body) => {
    const it = await arrivals.take(`message ${body}`);
    equal(it.body.toString('hex'), Buffer.from(body).toString('hex'));
    return it.message;
  };
  const send = (body, extra = {}, options = {}, from = client) => {
    const length = { 'content-length': Buffer.byteLength(body) };
    from.send({ destination: broker.queue, ...length, ...extra }, options).end(body);
  };

  await new Promise((resolve) => send(sent.text, {}, { onReceipt: resolve }));
  const first = await message(sent.text);
  ok('subscribe', 'send', 'receipt');
  await new Promise((resolve) => client.ack(first, {}, { onReceipt: resolve }));
  ok('ack');

  if (broker.version === '1.0') {
    lacks('nack');
  } else {
    send('again');
    client.nack(await message('again'));
    const again = await message('again');
    equal(again.headers.redelivered, 'true');
    client.ack(again);
    ok('nack');
  }

  const aborted = client.begin();
  send('aborted', {}, {}, aborted);
  aborted.abort();
  const committed = client.begin();
  send('committed', {}, {}, committed);
  committed.commit();
  client.ack(await message('committed'));
  ok('transaction');

  send(sent.binary);
  client.ack(await message(sent.binary));
  ok('binary');

  if (broker.version === '1.0') {
    lacks('escapes');
    lacks('heart-beat');
  } else {
    send('escaped', { 'x-escaped': sent.escaped });
    const escaped = await message('escaped');
    equal(escaped.headers['x-escaped'], sent.escaped);
    client.ack(escaped);
    ok('escapes');
    equal(client.headers['heart-beat'], `${beat},${beat}`);
    await pause(silence);
    send('still here');
    client.ack(await message('still here'));
    ok('heart-beat');
  }

  isOver = true;
  // It ends when the RECEIPT is there.
  await new Promise((resolve, reject) =>
    client.disconnect((error) => (error ? reject(error) : resolve())),
  );
  ok('disconnect');
}

peer('stompit');
play(story);

// webstomp-client, over WebSocket.
'use strict';

const webstomp = require('webstomp-client');
const WebSocket = require('ws');

const { Arrivals, beat, broker, fail, lacks, ok, pause, peer, play, sent, silence } =
  require('./story.js');

const equal = (is, shouldBe) => {
  if (is !== shouldBe) throw new Error(`${is} instead of ${shouldBe}`);
};

async function story() {
  // It speaks the version of the subprotocol that the broker chose.
  const protocol = `v${broker.version.replace('.', '')}.stomp`;
  const socket = new WebSocket(`ws://${broker.host}:${broker.port}/ws`, [protocol]);
  const heartbeat = { outgoing: beat, incoming: beat };
  const client = webstomp.over(socket, { debug: false, heartbeat });
  const headers = { login: broker.login, passcode: broker.passcode, host: '/' };
  const connected = await new Promise((resolve) => client.connect(headers, resolve, fail));
  equal(client.version, broker.version);
  ok('connect');

  const arrivals = new Arrivals();
  const receipts = new Arrivals();
  client.onreceipt = (frame) => receipts.put(frame.headers['receipt-id']);
  const receipt = async (id) => equal(await receipts.take(`receipt ${id}`), id);
  const ack = broker.version === '1.0' ? 'client' : 'client-individual';
  const subscription = { id: '1', ack, receipt: 'subscribed' };
  client.subscribe(broker.queue, (message) => arrivals.put(message), subscription);
  await receipt('subscribed');
  ok('subscribe');
  const message = async (body) => {
    const it = await arrivals.take(`message ${body}`);
    equal(it.body, body);
    return it;
  };
  const send = (body, extra = {}) => client.send(broker.queue, body, extra);

  send(sent.text, { receipt: 'sent' });
  await receipt('sent');
  const first = await message(sent.text);
  ok('send', 'receipt');
  first.ack({ receipt: 'acknowledged' });
  await receipt('acknowledged');
  ok('ack');

  if (broker.version === '1.0') {
    lacks('nack');
  } else {
    send('again');
    (await message('again')).nack();
    const again = await message('again');
    equal(again.headers.redelivered, 'true');
    again.ack();
    ok('nack');
  }

  const aborted = client.begin();
  send('aborted', { transaction: aborted.id });
  aborted.abort();
  const committed = client.begin();
  send('committed', { transaction: committed.id });
  committed.commit();
  (await message('committed')).ack();
  ok('transaction');

  lacks('binary', 'bodies of webstomp-client are strings that end at the first NUL');
  if (broker.version === '1.0') {
    lacks('escapes');
    lacks('heart-beat');
  } else {
    lacks('escapes', 'webstomp-client escapes nothing');
    equal(connected.headers['heart-beat'], `${beat},${beat}`);
    await pause(silence);
    send('still here');
    (await message('still here')).ack();
    ok('heart-beat');
  }

  const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
  client.disconnect();
  await closed;
  lacks('disconnect', 'webstomp-client closes behind its DISCONNECT without waiting for a RECEIPT');
}

peer('webstomp-client');
play(story);

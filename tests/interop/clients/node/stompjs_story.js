// The story of @stomp/stompjs, the same in node and in a browser.
'use strict';

const STORY = {
  text: 'héllo',
  binary: Uint8Array.from([0, 0xff, 0xfe, 0x80, 0x20, 0, 0x65, 0x6e, 0x64, 0x0a, 0]),
  // No `c` behind the backslash: it takes the wire's `\\c` for a backslash and a colon.
  escaped: 'a:b\nc \\ d',
  beat: 1_000,
  silence: 3_500,
  patience: 10_000,
};

// `socket` makes a socket for a list of subprotocols; `offered` are versions, the best one last;
// `report` gets the lines of the story.
async function stompjsStory({ Client, Versions, socket, offered, queue, report }) {
  const version = offered.at(-1);
  const ok = (...features) => features.forEach((feature) => report(`ok ${feature}`));
  const lacks = (feature, reason) => report(`not ${feature}: ${reason}`);
  const versions = new Versions(offered);
  let lost;
  const loss = new Promise((_, reject) => (lost = (reason) => reject(new Error(reason))));
  loss.catch(() => {});
  const inTime = (promise, what) => {
    let timer;
    const late = new Promise((_, reject) => {
      const error = new Error(`no ${what} in ${STORY.patience} ms`);
      timer = setTimeout(() => reject(error), STORY.patience);
    });
    return Promise.race([promise, loss, late]).finally(() => clearTimeout(timer));
  };
  const equal = (is, shouldBe) => {
    if (String(is) !== String(shouldBe)) throw new Error(`${is} instead of ${shouldBe}`);
  };

  const client = new Client({
    stompVersions: versions,
    webSocketFactory: () => socket(versions.protocolVersions()),
    connectHeaders: { login: 'guest', passcode: 'guest', host: '/' },
    heartbeatIncoming: STORY.beat,
    heartbeatOutgoing: STORY.beat,
    // A lost session is a failure.
    reconnectDelay: 0,
  });
  client.onStompError = (frame) => lost(`ERROR ${frame.headers.message} ${frame.body}`);
  client.onWebSocketClose = (event) => lost(`the socket closed: ${event.code} ${event.reason}`);
  client.onHeartbeatLost = () => lost('no beat of the server');

  const receipt = (id) => inTime(new Promise((ok) => client.watchForReceipt(id, ok)), 'RECEIPT');
  const arrived = [];
  const waiting = [];
  const hear = (message) => (waiting.length ? waiting.shift()(message) : arrived.push(message));
  const message = async (body) => {
    const next = arrived.length ? arrived.shift() : new Promise((ok) => waiting.push(ok));
    const it = await inTime(next, `message ${body}`);
    if (body !== undefined) equal(it.body, body);
    return it;
  };
  const send = (body, headers = {}) => client.publish({ destination: queue, body, headers });

  const connected = new Promise((ok) => (client.onConnect = ok));
  client.activate();
  const { headers } = await inTime(connected, 'CONNECTED');
  equal(client.connectedVersion, version);
  // A TCP socket has none.
  const { protocol } = client.webSocket;
  if (protocol !== undefined) equal(protocol, `v${version.replace('.', '')}.stomp`);
  ok('connect');

  const subscribed = receipt('subscribed');
  const ack = version === '1.0' ? 'client' : 'client-individual';
  client.subscribe(queue, hear, { id: '1', ack, receipt: 'subscribed' });
  await subscribed;
  ok('subscribe');

  const confirmed = receipt('sent');
  send(STORY.text, { receipt: 'sent' });
  await confirmed;
  const first = await message(STORY.text);
  ok('send', 'receipt');
  const acknowledged = receipt('acknowledged');
  first.ack({ receipt: 'acknowledged' });
  await acknowledged;
  ok('ack');

  if (version === '1.0') {
    lacks('nack', '1.0 has no NACK');
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

  client.publish({ destination: queue, binaryBody: STORY.binary });
  const binary = await message();
  equal(binary.binaryBody, STORY.binary);
  binary.ack();
  ok('binary');

  if (version === '1.2') {
    send('escaped', { 'x-escaped': STORY.escaped });
    const escaped = await message('escaped');
    equal(escaped.headers['x-escaped'], STORY.escaped);
    escaped.ack();
    ok('escapes');
  } else {
    const reason = '@stomp/stompjs escapes in 1.2 only';
    lacks('escapes', version === '1.0' ? '1.0 has no escapes' : reason);
  }

  if (version === '1.0') {
    lacks('heart-beat', '1.0 has no heart-beats');
  } else {
    equal(headers['heart-beat'], `${STORY.beat},${STORY.beat}`);
    await inTime(new Promise((ok) => setTimeout(ok, STORY.silence)), 'end of the silence');
    send('still here');
    (await message('still here')).ack();
    ok('heart-beat');
  }

  // It asks for a receipt by itself, and closes the socket when it is there.
  client.onWebSocketClose = () => {};
  let confirmedEnd = false;
  client.onDisconnect = () => (confirmedEnd = true);
  await inTime(client.deactivate(), 'end');
  equal(confirmedEnd, true);
  ok('disconnect');
}

if (typeof module !== 'undefined') module.exports = { stompjsStory };

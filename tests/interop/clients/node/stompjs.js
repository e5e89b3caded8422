// @stomp/stompjs in node, over TCP and WebSocket.
'use strict';

const { Client, Versions } = require('@stomp/stompjs');
const { TCPWrapper } = require('@stomp/tcp-wrapper');
const WebSocket = require('ws');

const { broker, peer, play } = require('./story.js');
const { stompjsStory } = require('./stompjs_story.js');

const overTcp = () => new TCPWrapper(broker.host, broker.port);
const overWebSocket = (protocols) =>
  new WebSocket(`ws://${broker.host}:${broker.port}/ws`, protocols);

peer('@stomp/stompjs');
play(() =>
  stompjsStory({
    Client,
    Versions,
    socket: broker.transport === 'ws' ? overWebSocket : overTcp,
    offered: broker.version.split(','),
    queue: broker.queue,
    report: (line) => console.log(line),
  }),
);

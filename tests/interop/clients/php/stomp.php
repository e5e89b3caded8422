<?php
// The stomp extension of PHP.

const TEXT = 'héllo';
const OCTETS = "\0\xff\xfe\x80 \0 end\n\0";
const PATIENCE = 10;

$version = getenv('STOMP_VERSION');
$queue = getenv('STOMP_QUEUE');

function ok(string ...$features): void
{
    foreach ($features as $feature) {
        echo "ok $feature\n";
    }
}

function lacks(string $feature, string $reason): void
{
    echo "not $feature: $reason\n";
}

function equal(mixed $is, mixed $should_be): void
{
    if ($is !== $should_be) {
        throw new Exception(var_export($is, true) . ' instead of ' . var_export($should_be, true));
    }
}

function message(Stomp $client, string $body): StompFrame
{
    $frame = $client->readFrame();
    if (!$frame) {
        throw new Exception('no message in ' . PATIENCE . ' s: ' . $client->error());
    }
    equal($frame->command, 'MESSAGE');
    equal($frame->body, $body);
    return $frame;
}

function ack(Stomp $client, StompFrame $frame, array $headers = []): void
{
    global $version;
    // Given a frame, it would send all headers of the message along.
    $headers += match ($version) {
        '1.0' => [],
        '1.1' => ['subscription' => '1'],
        '1.2' => ['id' => $frame->headers['ack']],
    };
    equal($client->ack($frame->headers['message-id'], $headers), true);
}

echo 'peer php-stomp ', phpversion('stomp'), "\n";
$offer = $version === '1.0' ? [] : ['accept-version' => $version, 'host' => '/'];
$address = 'tcp://127.0.0.1:' . getenv('STOMP_PORT');
$client = new Stomp($address, 'guest', 'guest', $offer);
$client->setReadTimeout(PATIENCE);
ok('connect');

// With a receipt it waits for the RECEIPT, and fails if another frame comes instead.
$mode = $version === '1.0' ? 'client' : 'client-individual';
$headers = ['id' => '1', 'ack' => $mode, 'receipt' => 'subscribed'];
equal($client->subscribe($queue, $headers), true);
ok('subscribe');

equal($client->send($queue, TEXT, ['receipt' => 'sent']), true);
$first = message($client, TEXT);
ok('send', 'receipt');
ack($client, $first, ['receipt' => 'acknowledged']);
ok('ack');

if ($version === '1.0') {
    lacks('nack', '1.0 has no NACK');
} else {
    lacks('nack', 'php-stomp has no NACK');
}

foreach (['aborted' => 'abort', 'committed' => 'commit'] as $body => $how) {
    $client->begin($body);
    $client->send($queue, $body, ['transaction' => $body]);
    $client->$how($body);
}
ack($client, message($client, 'committed'));
ok('transaction');

$client->send($queue, OCTETS, ['content-length' => strlen(OCTETS)]);
ack($client, message($client, OCTETS));
ok('binary');

if ($version === '1.0') {
    lacks('escapes', '1.0 has no escapes');
    lacks('heart-beat', '1.0 has no heart-beats');
} else {
    lacks('escapes', 'php-stomp takes headers as they are on the wire');
    lacks('heart-beat', 'php-stomp sends no heart-beats');
}

unset($client);
lacks('disconnect', 'php-stomp closes behind its DISCONNECT without waiting for a RECEIPT');

# Net::Stomp.

use strict;
use warnings;

use Net::Stomp;

my $version  = $ENV{STOMP_VERSION};
my $queue    = $ENV{STOMP_QUEUE};
my $patience = 10;
my $text     = "h\xc3\xa9llo";
my $binary   = "\0\xff\xfe\x80 \0 end\n\0";
my $beat     = 1000;

$| = 1;

sub ok    { print "ok $_\n" for @_ }
sub lacks { print "not $_[0]: $_[1]\n" }

sub equal {
    my ($is, $should_be) = @_;
    die "'$is' instead of '$should_be'" if $is ne $should_be;
}

# A lost session is a failure; it would open a new one.
{
    no warnings 'redefine';
    *Net::Stomp::_reconnect = sub { die 'the session is lost' };
}

my $client = Net::Stomp->new({ hostname => '127.0.0.1', port => $ENV{STOMP_PORT} });

sub frame {
    my ($command) = @_;
    my $frame = $client->receive_frame({ timeout => $patience });
    die "no $command in $patience s" unless $frame;
    equal($frame->command, $command);
    return $frame;
}

sub message {
    my ($body) = @_;
    my $frame = frame('MESSAGE');
    equal($frame->body, $body);
    return $frame;
}

# It says no length by itself.
sub send_body {
    my ($body, %headers) = @_;
    my $length = length $body;
    $client->send({ destination => $queue, body => $body, 'content-length' => $length, %headers });
}

# ACK and NACK of 1.1 need the subscription, which it leaves out.
sub settle {
    my ($how, $frame, %headers) = @_;
    $headers{subscription} = '1' if $version ne '1.0';
    $client->$how({ frame => $frame, %headers });
}

print "peer Net::Stomp $Net::Stomp::VERSION\n";
my %offer = $version eq '1.0' ? () : ('accept-version' => $version, host => '/');
my $connected = $client->connect({ login => 'guest', passcode => 'guest', %offer });
equal($connected->command, 'CONNECTED');
equal($connected->headers->{version} // '1.0', $version);
ok('connect');

my $mode = $version eq '1.0' ? 'client' : 'client-individual';
$client->subscribe({ destination => $queue, ack => $mode, id => '1', receipt => 'subscribed' });
equal(frame('RECEIPT')->headers->{'receipt-id'}, 'subscribed');
ok('subscribe');

# Not by send_with_receipt, which takes the next frame for the RECEIPT: a broker may deliver first.
send_body($text, receipt => 'sent');
my %frames = map { $_->command => $_ }
    map { $client->receive_frame({ timeout => $patience }) // die 'no frame' } 1 .. 2;
equal($frames{RECEIPT}->headers->{'receipt-id'}, 'sent');
my $first = $frames{MESSAGE};
equal($first->body, $text);
ok('send', 'receipt');
settle('ack', $first, receipt => 'acknowledged');
equal(frame('RECEIPT')->headers->{'receipt-id'}, 'acknowledged');
ok('ack');

if ($version eq '1.0') {
    lacks('nack', '1.0 has no NACK');
} else {
    send_body('again');
    settle('nack', message('again'));
    my $again = message('again');
    equal($again->headers->{redelivered}, 'true');
    settle('ack', $again);
    ok('nack');
}

# It has a method for a transaction of one message, and none to abort.
for my $frame (
    { command => 'BEGIN', headers => { transaction => 'aborted' } },
    {
        command => 'SEND', body => 'aborted',
        headers => { destination => $queue, transaction => 'aborted' },
    },
    { command => 'ABORT', headers => { transaction => 'aborted' } },
) {
    $client->send_frame(Net::Stomp::Frame->new($frame));
}
my %committed = (destination => $queue, body => 'committed', timeout => $patience);
equal($client->send_transactional(\%committed), 1);
settle('ack', message('committed'));
ok('transaction');

send_body($binary);
settle('ack', message($binary));
ok('binary');

if ($version eq '1.0') {
    lacks('escapes', '1.0 has no escapes');
    lacks('heart-beat', '1.0 has no heart-beats');
} else {
    lacks('escapes', 'Net::Stomp takes headers as they are on the wire');
    lacks('heart-beat', 'Net::Stomp sends no heart-beats');
}

$client->disconnect;
lacks('disconnect', 'Net::Stomp closes behind its DISCONNECT without waiting for a RECEIPT');

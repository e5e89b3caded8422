# The stomp gem.

require 'stomp'
require 'timeout'

PORT = Integer(ENV.fetch('STOMP_PORT'))
VERSION = ENV.fetch('STOMP_VERSION')
QUEUE = ENV.fetch('STOMP_QUEUE')

TEXT = 'héllo'
BINARY = "\0\xff\xfe\x80 \0 end\n\0".b
# No `c` behind the backslash: the gem takes the wire's `\\c` for a backslash and a colon.
ESCAPED = "a:b\nc \\ d"
BEAT = 1000
SILENCE = 3.5
PATIENCE = 10

def ok(*features)
  features.each { |feature| puts "ok #{feature}" }
end

def lacks(feature, reason)
  puts "not #{feature}: #{reason}"
end

def equal(is, should_be)
  raise "#{is.inspect} instead of #{should_be.inspect}" unless is == should_be
end

class Story
  def initialize
    headers = { 'accept-version' => VERSION, 'host' => '/', 'heart-beat' => "#{BEAT},#{BEAT}" }
    headers = {} if VERSION == '1.0'
    host = { login: 'guest', passcode: 'guest', host: '127.0.0.1', port: PORT }
    # Not reliable: it would open a lost session anew.
    @client = Stomp::Connection.new(hosts: [host], reliable: false, connect_headers: headers)
  end

  def frame(command)
    frame = Timeout.timeout(PATIENCE) { @client.receive }
    raise "no #{command}: the session is over" unless frame
    equal(frame.command, command)
    frame
  end

  def message(body)
    frame = frame('MESSAGE')
    equal(frame.body.b, body.b)
    frame
  end

  def receipt(id)
    equal(frame('RECEIPT').headers['receipt-id'], id)
  end

  def settle(how, frame, headers = {})
    return @client.send(how, frame.headers['ack'], headers) if VERSION == '1.2'

    headers = headers.merge('subscription' => '1') if VERSION == '1.1'
    @client.send(how, frame.headers['message-id'], headers)
  end

  def play
    equal(@client.connection_frame.command, 'CONNECTED')
    equal(@client.protocol, VERSION)
    ok('connect')
    mode = VERSION == '1.0' ? 'client' : 'client-individual'
    @client.subscribe(QUEUE, { 'id' => '1', 'ack' => mode, 'receipt' => 'subscribed' }, '1')
    receipt('subscribed')
    ok('subscribe')
    @client.publish(QUEUE, TEXT, 'receipt' => 'sent')
    frames = 2.times.map { Timeout.timeout(PATIENCE) { @client.receive } }
    frames = frames.to_h { |frame| [frame.command, frame] }
    equal(frames['RECEIPT'].headers['receipt-id'], 'sent')
    equal(frames['MESSAGE'].body.b, TEXT.b)
    ok('send', 'receipt')
    settle(:ack, frames['MESSAGE'], 'receipt' => 'acknowledged')
    receipt('acknowledged')
    ok('ack')
    nack
    transaction
    @client.publish(QUEUE, BINARY)
    settle(:ack, message(BINARY))
    ok('binary')
    escapes
    heart_beat
    # It waits for the RECEIPT that it asks for.
    @client.disconnect('receipt' => 'bye')
    equal(@client.disconnect_receipt.headers['receipt-id'], 'bye')
    ok('disconnect')
  end

  def nack
    return lacks('nack', '1.0 has no NACK') if VERSION == '1.0'

    @client.publish(QUEUE, 'again')
    settle(:nack, message('again'))
    again = message('again')
    equal(again.headers['redelivered'], 'true')
    settle(:ack, again)
    ok('nack')
  end

  def transaction
    { 'aborted' => :abort, 'committed' => :commit }.each do |body, how|
      @client.begin(body)
      @client.publish(QUEUE, body, 'transaction' => body)
      @client.send(how, body)
    end
    settle(:ack, message('committed'))
    ok('transaction')
  end

  def escapes
    return lacks('escapes', '1.0 has no escapes') if VERSION == '1.0'

    @client.publish(QUEUE, 'escaped', 'x-escaped' => ESCAPED)
    frame = message('escaped')
    equal(frame.headers['x-escaped'], ESCAPED)
    settle(:ack, frame)
    ok('escapes')
  end

  def heart_beat
    return lacks('heart-beat', '1.0 has no heart-beats') if VERSION == '1.0'

    equal(@client.connection_frame.headers['heart-beat'], "#{BEAT},#{BEAT}")
    sleep(SILENCE)
    equal(@client.hbrecv_count.positive?, true)
    @client.publish(QUEUE, 'still here')
    settle(:ack, message('still here'))
    ok('heart-beat')
  end
end

$stdout.sync = true
puts "peer ruby-stomp #{Stomp::Version::STRING}"
Story.new.play

// StompConnection, the client that ActiveMQ brings along.

import java.util.HashMap;
import java.util.Objects;

import org.apache.activemq.transport.stomp.StompConnection;
import org.apache.activemq.transport.stomp.StompFrame;

public class Story {
    static final String VERSION = System.getenv("STOMP_VERSION");
    static final String QUEUE = System.getenv("STOMP_QUEUE");
    static final String TEXT = "héllo";
    static final int BEAT = 1000;
    static final int BEATS = 5;
    static final int PATIENCE = 10_000;

    final StompConnection client = new StompConnection();

    public static void main(String[] arguments) throws Exception {
        String version = StompConnection.class.getPackage().getImplementationVersion();
        System.out.println("peer StompConnection " + version);
        new Story().play();
    }

    void play() throws Exception {
        client.open("127.0.0.1", Integer.parseInt(System.getenv("STOMP_PORT")));
        client.sendFrame(new StompFrame("CONNECT", headers(
            "login", "guest", "passcode", "guest", "accept-version", VERSION, "host", "/",
            "heart-beat", VERSION.equals("1.0") ? "0,0" : BEAT + "," + BEAT)).format());
        var connected = frame("CONNECTED");
        equal(connected.getHeaders().getOrDefault("version", "1.0"), VERSION);
        ok("connect");
        var mode = VERSION.equals("1.0") ? "client" : "client-individual";
        client.subscribe(QUEUE, mode, headers("id", "1", "receipt", "subscribed"));
        receipt("subscribed");
        ok("subscribe");
        send(TEXT, "receipt", "sent");
        // A broker may confirm a message before or after it delivers it.
        var frames = new HashMap<String, StompFrame>();
        for (int count = 0; count < 2; count++) {
            var frame = client.receive(PATIENCE);
            frames.put(frame.getAction(), frame);
        }
        equal(frames.get("RECEIPT").getHeaders().get("receipt-id"), "sent");
        var first = frames.get("MESSAGE");
        equal(first.getBody(), TEXT);
        ok("send");
        ok("receipt");
        settle("ACK", first, "receipt", "acknowledged");
        receipt("acknowledged");
        ok("ack");
        nack();
        transaction();
        lacks("binary", "bodies of StompConnection are strings");
        if (VERSION.equals("1.0")) {
            lacks("escapes", "1.0 has no escapes");
            lacks("heart-beat", "1.0 has no heart-beats");
        } else {
            lacks("escapes", "StompConnection takes headers as they are on the wire");
            heartBeat();
        }
        client.disconnect("bye");
        receipt("bye");
        client.close();
        ok("disconnect");
    }

    void nack() throws Exception {
        if (VERSION.equals("1.0")) {
            lacks("nack", "1.0 has no NACK");
            return;
        }
        send("again");
        settle("NACK", message("again"));
        var again = message("again");
        equal(again.getHeaders().get("redelivered"), "true");
        settle("ACK", again);
        ok("nack");
    }

    void transaction() throws Exception {
        client.begin("aborted");
        send("aborted", "transaction", "aborted");
        client.abort("aborted");
        client.begin("committed");
        send("committed", "transaction", "committed");
        client.commit("committed");
        settle("ACK", message("committed"));
        ok("transaction");
    }

    void heartBeat() throws Exception {
        // It has no timer: beats are the business of the application, and those of the broker go
        // unnoticed.
        for (int beat = 0; beat < BEATS; beat++) {
            Thread.sleep(BEAT * 3 / 4);
            client.keepAlive();
        }
        send("still here");
        settle("ACK", message("still here"));
        ok("heart-beat");
    }

    void send(String body, String... extra) throws Exception {
        client.send(QUEUE, body, null, headers(extra));
    }

    /** ACK or NACK in the form of the version. */
    void settle(String command, StompFrame message, String... extra) throws Exception {
        var headers = headers(extra);
        if (VERSION.equals("1.2")) {
            headers.put("id", message.getHeaders().get("ack"));
        } else {
            headers.put("message-id", message.getHeaders().get("message-id"));
            headers.put("subscription", "1");
        }
        client.sendFrame(new StompFrame(command, headers).format());
    }

    StompFrame frame(String command) throws Exception {
        var frame = client.receive(PATIENCE);
        equal(frame.getAction(), command);
        return frame;
    }

    StompFrame message(String body) throws Exception {
        var frame = frame("MESSAGE");
        equal(frame.getBody(), body);
        return frame;
    }

    void receipt(String id) throws Exception {
        equal(frame("RECEIPT").getHeaders().get("receipt-id"), id);
    }

    static HashMap<String, String> headers(String... namesAndValues) {
        var headers = new HashMap<String, String>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            headers.put(namesAndValues[at], namesAndValues[at + 1]);
        }
        return headers;
    }

    static void equal(String is, String shouldBe) {
        if (!Objects.equals(is, shouldBe)) {
            throw new AssertionError(is + " instead of " + shouldBe);
        }
    }

    static void ok(String feature) {
        System.out.println("ok " + feature);
    }

    static void lacks(String feature, String reason) {
        System.out.println("not " + feature + ": " + reason);
    }
}

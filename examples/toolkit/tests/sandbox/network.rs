//! What a command can reach of the network, and of programs that listen on the machine.

use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::time::Duration;

use crate::confined::{Ground, argument, open, probe as probe_name, probing, tell};

/// Not a test: what this binary does when it is the command in a sandbox.
#[test]
fn probe() {
    if probe_name().is_some() {
        reach_out();
    }
}

fn reach_out() {
    let (tcp, udp) = (argument(0), argument(1));
    let (stream, datagram, name) = (argument(2), argument(3), argument(4));
    tell("tcp", TcpStream::connect(tcp));
    tell(
        "udp",
        UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"out", &udp)),
    );
    tell("udp6", UdpSocket::bind("[::1]:0"));
    tell("listening", TcpListener::bind("127.0.0.1:0"));
    tell("name", ("example.com", 80).to_socket_addrs());
    tell("stream", UnixStream::connect(&stream));
    tell(
        "datagram",
        UnixDatagram::unbound().and_then(|socket| socket.send_to(b"out", &datagram)),
    );
    tell(
        "datagram of a pair",
        UnixDatagram::pair().and_then(|(socket, _other)| socket.send_to(b"out", &datagram)),
    );
    tell(
        "abstract",
        SocketAddr::from_abstract_name(&name).and_then(|name| UnixStream::connect_addr(&name)),
    );
    tell("pair", UnixStream::pair());
}

/// S6
#[test]
fn no_socket_of_any_kind_reaches_out_of_a_sandbox() {
    let ground = Ground::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stream = ground.root().join("stream");
    let datagram = ground.root().join("datagram");
    let _stream = UnixListener::bind(&stream).unwrap();
    let posted = UnixDatagram::bind(&datagram).unwrap();
    let name = format!("toolkit-test-{}", std::process::id());
    let _named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let arguments = [
        &tcp.local_addr().unwrap().to_string(),
        &udp.local_addr().unwrap().to_string(),
        stream.to_str().unwrap(),
        datagram.to_str().unwrap(),
        &name,
    ];

    // Without a sandbox the probe reaches everything, so it can.
    let found = ground
        .shell_with(open())
        .probe(probe, "network", &arguments);
    for way in [
        "tcp",
        "udp",
        "listening",
        "stream",
        "datagram",
        "datagram of a pair",
        "abstract",
    ] {
        assert_eq!(found[way], "reached", "{way}");
    }
    udp.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    udp.recv(&mut [0; 9]).unwrap();
    posted.set_nonblocking(true).unwrap();
    while posted.recv(&mut [0; 9]).is_ok() {}

    let found = ground
        .shell_with(probing())
        .probe(probe, "network", &arguments);
    assert_eq!(
        found["pair"], "reached",
        "two processes of the command may talk"
    );
    for (way, how) in found.iter().filter(|(way, _)| *way != "pair") {
        assert_ne!(how, "reached", "{way}");
    }
    udp.set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    assert!(udp.recv(&mut [0; 9]).is_err(), "a packet came out");
    assert!(posted.recv(&mut [0; 9]).is_err(), "a datagram came out");
}

/// S6
#[test]
fn with_a_network_the_internet_is_reached_and_programs_of_the_machine_are_not() {
    let ground = Ground::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stream = ground.root().join("stream");
    let datagram = ground.root().join("datagram");
    let _stream = UnixListener::bind(&stream).unwrap();
    let _datagram = UnixDatagram::bind(&datagram).unwrap();
    let arguments = [
        &tcp.local_addr().unwrap().to_string(),
        &udp.local_addr().unwrap().to_string(),
        stream.to_str().unwrap(),
        datagram.to_str().unwrap(),
        "nobody",
    ];
    let found = ground
        .shell_with(probing().network(true))
        .probe(probe, "network", &arguments);
    for way in ["tcp", "udp", "listening", "pair"] {
        assert_eq!(found[way], "reached", "{way}");
    }
    for way in ["stream", "datagram", "datagram of a pair", "abstract"] {
        assert_ne!(found[way], "reached", "{way}");
    }
}

/// S6
#[test]
fn a_shell_reaches_no_address() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let ground = Ground::new();
    let argv = [
        "bash",
        "-c",
        &format!("echo out > /dev/tcp/127.0.0.1/{port} && echo reached"),
    ];
    let ran = ground.shell_with(open()).argv(&argv);
    assert_eq!(ran.stdout(), "reached\n", "{ran:?}");
    let ran = ground.shell().argv(&argv);
    assert_eq!(ran.stdout(), "", "{ran:?}");
    assert_ne!(ran.code(), Some(0));
}

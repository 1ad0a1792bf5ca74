//! Datagrams: lost, doubled, out of order, of strangers, beyond the file.

use super::*;

/// Offers 2500 bytes over UDP in three datagrams; gives the connection, the socket, and a maker of datagrams.
fn over_udp(address: SocketAddr) -> (Channel, UdpSocket, impl Fn(u32, &[u8]) -> Vec<u8>) {
    let mut channel = by_hand(address, &token()).unwrap();
    channel.say(&Message::Offer(Offer { transport: Transport::Udp, ..offer("x", "null", 2500, 2500) })).unwrap();
    let Message::Accept { udp_port: Some(port) } = channel.hear().unwrap() else { panic!("no port") };
    channel.say(&Message::Start).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    let name = channel.session;
    (channel, socket, move |number, body| [&name as &[u8], &number.to_be_bytes(), body].concat())
}

#[test]
fn datagrams_that_are_lost_doubled_out_of_order_or_strangers_are_told_apart() {
    let place = Place::new("datagrams");
    let (address, thread) = receiver(&place, PATIENT);
    let content: Vec<u8> = (0..250_u8).cycle().take(2500).collect();
    let (mut channel, socket, datagram) = over_udp(address);
    let (first, second, third) =
        (datagram(0, &content[..1000]), datagram(1, &content[1000..2000]), datagram(2, &content[2000..]));
    let mut stranger = first.clone();
    stranger[0] ^= 1;
    for sent in [&third, &third, &stranger, &first[..5].to_vec(), &first[..500].to_vec()] {
        socket.send(sent).unwrap();
    }
    channel.say(&Message::Ask { window: 0, round: 0 }).unwrap();
    assert_eq!(channel.hear().unwrap(), Message::Missing { window: 0, datagrams: vec![0, 1] });
    socket.send(&second).unwrap();
    channel.say(&Message::Ask { window: 0, round: 1 }).unwrap();
    assert_eq!(channel.hear().unwrap(), Message::Missing { window: 0, datagrams: vec![0] });
    socket.send(&first).unwrap();
    channel.say(&Message::Ask { window: 0, round: 2 }).unwrap();
    assert_eq!(channel.hear().unwrap(), Message::Missing { window: 0, datagrams: vec![] });
    assert_eq!(channel.hear().unwrap(), Message::Arrived { encoded_B: 2500 });
    let plain_tag = HEXLOWER.encode(&channel.data.plaintext(0).unwrap().tag(&[&content]));
    channel.say(&Message::Done { encoded_B: 2500, sha256: sha256(&content), plain_tag }).unwrap();
    let Message::Receipt { record, .. } = channel.hear().unwrap() else { panic!("no receipt") };
    let datagrams = record.datagrams.unwrap();
    assert_eq!((datagrams.needed, datagrams.lost, datagrams.duplicates), (3, 3, Some(1)));
    assert_eq!(std::fs::read(place.inner().join("x")).unwrap(), content);
    channel.say(&Message::End { files: 1 }).unwrap();
    assert_eq!(thread.join().unwrap().0, Ended::Peer(Ok(())));
}

#[test]
fn datagrams_beyond_the_file_are_refused_and_those_that_never_come_are_lost() {
    let place = Place::new("beyond");
    for wrong in [(3, 1000), (0, 1001), (2, 501)] {
        let (address, thread) = receiver(&place, PATIENT);
        let (_channel, socket, datagram) = over_udp(address);
        socket.send(&datagram(wrong.0, &vec![0; wrong.1])).unwrap();
        assert_eq!((reason(&thread.join().unwrap().0), place.names()), (Reason::MoreThanSaid, vec![]), "{wrong:?}");
    }
    let (address, thread) = receiver(&place, PATIENT);
    let (mut channel, ..) = over_udp(address);
    let mut round = 0;
    while channel.say(&Message::Ask { window: 0, round }).is_ok() && channel.hear().is_ok() {
        round += 1;
    }
    assert_eq!((round, reason(&thread.join().unwrap().0), place.names()), (16, Reason::Lost, vec![]));
}

#[test]
fn a_sender_sends_again_exactly_what_the_receiver_misses() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sender =
        thread::spawn(move || send_honestly(address, "null", Encoding::Raw, Transport::Udp, &[("x", vec![7; 4500])]).0);
    let patience = Patience { silence: PATIENT, end: Instant::now() + PATIENT };
    let mut channel = Channel::open(listener.accept().unwrap().0, Side::Receiver, &token(), patience).unwrap();
    assert!(matches!(channel.hear().unwrap(), Message::Offer(_)));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENT)).unwrap();
    channel.say(&Message::Accept { udp_port: Some(socket.local_addr().unwrap().port()) }).unwrap();
    assert_eq!(channel.hear().unwrap(), Message::Start);
    let next = || {
        let mut datagram = [0; 2000];
        let length = socket.recv(&mut datagram).unwrap();
        (datagram[HEADER_B - 1], length - HEADER_B)
    };
    assert_eq!([next(), next(), next(), next(), next()], [(0, 1000), (1, 1000), (2, 1000), (3, 1000), (4, 500)]);
    assert_eq!(channel.hear().unwrap(), Message::Ask { window: 0, round: 0 });
    channel.say(&Message::Missing { window: 0, datagrams: vec![1, 4] }).unwrap();
    assert_eq!([next(), next()], [(1, 1000), (4, 500)]);
    assert_eq!(channel.hear().unwrap(), Message::Ask { window: 0, round: 1 });
    channel.say(&Message::Refuse { reason: Reason::TooSlow }).unwrap();
    assert_eq!(sender.join().unwrap(), Err(Refusal::of_peer(Reason::TooSlow).at(0)));
}

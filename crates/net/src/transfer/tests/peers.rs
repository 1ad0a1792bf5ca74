//! Peers that stall, work long, are strangers, or have somebody between them who changes bits or plays again.

use super::*;

#[test]
fn a_peer_that_stalls_is_given_up_and_leaves_no_part() {
    let place = Place::new("stall");
    let (address, thread) = receiver(&place, IMPATIENT);
    let mut channel = by_hand(address, &token()).unwrap();
    channel.say(&Message::Offer(offer("x", "null", 100, 100))).unwrap();
    channel.hear().unwrap();
    assert_eq!(place.names(), ["x.part"]);
    channel.say(&Message::Start).unwrap();
    channel.give(&[0; 50]).unwrap();
    assert_eq!((reason(&thread.join().unwrap().0), place.names()), (Reason::Stalled, vec![]));
    assert_eq!(channel.hear(), Err(Refusal::of_peer(Reason::Stalled)));
    // One that says nothing at all, and one that goes away.
    let (address, thread) = receiver(&place, IMPATIENT);
    let silent = TcpStream::connect(address).unwrap();
    assert_eq!(reason(&thread.join().unwrap().0), Reason::Stalled);
    drop(silent);
    let (address, thread) = receiver(&place, PATIENT);
    let mut channel = by_hand(address, &token()).unwrap();
    channel.say(&Message::Offer(offer("x", "null", 100, 100))).unwrap();
    channel.hear().unwrap();
    drop(channel);
    assert_eq!((reason(&thread.join().unwrap().0), place.names()), (Reason::Cut, vec![]));
}

#[test]
fn a_sender_that_works_longer_than_the_silence_is_waited_for_and_one_that_only_says_so_not_for_ever() {
    let place = Place::new("slow");
    let (address, thread) = receiver(&place, IMPATIENT);
    let mut sender = by_hand(address, &token()).unwrap();
    sender.at_work(|_| thread::sleep(3 * IMPATIENT));
    let before_B = sender.control_B;
    sender.say(&Message::End { files: 0 }).unwrap();
    let (ended, _) = thread.join().unwrap();
    assert!(matches!(ended, Ended::Peer(Ok(()))), "{ended:?}");
    assert!(before_B < 300, "signs of life are counted: {before_B} B");

    // A whole session has an end, whoever says what.
    let (here, there) = pair();
    let limits = |end: Duration| Patience { silence: IMPATIENT, end: Instant::now() + end };
    let other = thread::spawn(move || {
        Channel::open(there, Side::Sender, &token(), limits(PATIENT))
            .map(|mut sender| sender.at_work(|_| thread::sleep(3 * IMPATIENT)))
    });
    let mut receiver = Channel::open(here, Side::Receiver, &token(), limits(2 * IMPATIENT)).unwrap();
    assert_eq!(receiver.hear().unwrap_err().reason, Reason::TooSlow);
    drop(receiver);
    other.join().unwrap().unwrap();
}

/// Both ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

#[test]
fn strangers_are_turned_away_a_second_peer_is_told_and_the_first_is_served() {
    let place = Place::new("strangers");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, inner) = (listener.local_addr().unwrap(), place.inner());
    let (sender, reasons) = pipe();
    let thread = thread::spawn(move || {
        let providers = Providers::new();
        let receiving = receiving(&providers, &inner, PATIENT);
        let mut strangers = |refusal: &Refusal| sender.send(refusal.reason).unwrap();
        let mut scale = Scale::new(None).unwrap();
        serve(listener, &token(), &receiving, &mut scale, &mut |_| Ok(()), &mut strangers)
    });
    // The wrong token: each side names it, and the receiver goes on waiting.
    assert_eq!(by_hand(address, &Token::fresh().unwrap()).err().unwrap().reason, Reason::WrongToken);
    assert_eq!(reasons.recv().unwrap(), Reason::WrongToken);
    // Somebody with another protocol.
    let mut other = TcpStream::connect(address).unwrap();
    other.write_all(&[b'G'; 64]).unwrap();
    assert_eq!(reasons.recv().unwrap(), Reason::NotWattlock);
    thread::sleep(Duration::from_millis(50)); // it goes back to waiting
    let mut first = by_hand(address, &token()).unwrap();
    assert_eq!(by_hand(address, &token()).err().unwrap().reason, Reason::Busy);
    first.say(&Message::End { files: 0 }).unwrap();
    assert_eq!((thread.join().unwrap(), place.names()), (Ok(()), vec![]));
}

/// Carries an honest session through a relay that flips one bit of the sender's bytes; gives these bytes as sent, how
/// the receiver ended and how the sender did.
fn through_a_relay(place: &Place, flip: Option<usize>) -> (Vec<u8>, Ended, Result<(), Refusal>) {
    let (address, thread) = receiver(place, IMPATIENT);
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let front = relay.local_addr().unwrap();
    let carry = thread::spawn(move || {
        let mut left = relay.accept().unwrap().0;
        let mut right = TcpStream::connect(address).unwrap();
        let (mut back_from, mut back_to) = (right.try_clone().unwrap(), left.try_clone().unwrap());
        let back = thread::spawn(move || {
            let _ = std::io::copy(&mut back_from, &mut back_to);
            let _ = back_to.shutdown(std::net::Shutdown::Both);
        });
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = left.read(&mut buffer) {
            let from = seen.len();
            seen.extend_from_slice(&buffer[..length]);
            let mut carried = buffer[..length].to_vec();
            if let Some(bit) = flip.and_then(|at| at.checked_sub(from)).and_then(|at| carried.get_mut(at)) {
                *bit ^= 0x10;
            }
            if right.write_all(&carried).is_err() {
                break;
            }
        }
        let _ = right.shutdown(std::net::Shutdown::Write);
        back.join().unwrap();
        seen
    });
    let (done, _) = send_honestly(front, "null", Encoding::Raw, Transport::Tcp, &[("x", CONTENT.to_vec())]);
    (carry.join().unwrap(), thread.join().unwrap().0, done)
}

const CONTENT: &[u8] = b"what is measured is payload, what is trusted is not";

#[test]
fn one_changed_bit_anywhere_is_refused_and_leaves_no_file() {
    let place = Place::new("relay");
    let (honest, ended, done) = through_a_relay(&place, None);
    assert_eq!((ended, done, place.names()), (Ended::Peer(Ok(())), Ok(()), vec!["x".to_owned()]));
    std::fs::remove_file(place.inner().join("x")).unwrap();
    let data = honest.windows(CONTENT.len()).position(|window| window == CONTENT).unwrap();
    // The last message, the end of the session, comes when the file has arrived.
    let end = honest.windows(4).rposition(|window| window == [0, 0, 0, 24]).unwrap();
    assert_eq!(honest.len(), end + 4 + 24 + 32);
    for at in (0..end).step_by(9).chain([data, data + CONTENT.len() - 1]) {
        let (_, ended, done) = through_a_relay(&place, Some(at));
        let right: &[Reason] = match at {
            0..20 => &[Reason::NotWattlock],
            20 => &[Reason::NotWattlock],
            21..37 => &[Reason::WrongToken],
            // A changed length makes it wait for what does not come.
            37..41 => &[Reason::WrongToken, Reason::Stalled],
            41..89 => &[Reason::WrongToken],
            at if (data..data + CONTENT.len()).contains(&at) => &[Reason::ChangedData],
            _ => &[Reason::ForgedControl, Reason::Stalled],
        };
        assert!(right.contains(&reason(&ended)), "byte {at}: {ended:?}");
        assert!(done.is_err(), "byte {at}");
        assert_eq!(place.names(), Vec::<String>::new(), "byte {at}");
    }
}

#[test]
fn a_replayed_session_is_refused_because_the_nonces_are_fresh() {
    let place = Place::new("replay");
    let (honest, ..) = through_a_relay(&place, None);
    std::fs::remove_file(place.inner().join("x")).unwrap();
    let (address, thread) = receiver(&place, IMPATIENT);
    let mut again = TcpStream::connect(address).unwrap();
    let _ = again.write_all(&honest);
    let ended = thread.join().unwrap().0;
    assert!(matches!(ended, Ended::Stranger(_)), "{ended:?}");
    assert_eq!((reason(&ended), place.names()), (Reason::WrongToken, vec![]));
}

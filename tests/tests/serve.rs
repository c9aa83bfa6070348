//! `azimuth serve`: its page in a headless Chromium, requests that must be refused, pages that
//! misbehave, many pages at once, and the end.

use std::io::{Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_tests::odd_games::{Found, odd_files};
use azimuth_tests::server::{PATIENCE, Page, Server, analysis};
use azimuth_tests::{binary, python, refusal, text};
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

#[test]
fn only_the_page_itself_is_answered() -> Result<()> {
    let server = Server::start(&[])?;
    let (host, token) = (server.host.as_str(), server.token());
    let port = host.rsplit_once(':').context("no port")?.1;
    let [own, secure] = ["http", "https"].map(|scheme| format!("{scheme}://{host}"));
    let page = format!("/{token}/");
    let (status, answer) = server.ask(&page, &[("Host", host)])?;
    assert_eq!(status, 200);
    let lower = answer.to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(lower.contains(header), "{header}: {answer}");
    }
    assert!(!answer.contains("unsafe"), "{answer}");
    for file in ["board.js", "board.css", "pieces.css"] {
        assert_eq!(server.ask(&format!("{page}{file}"), &[("Host", host)])?.0, 200, "{file}");
    }
    let upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let socket = format!("{page}socket");
    let [evil, localhost] = ["evil.example", "localhost"].map(|name| format!("{name}:{port}"));
    for (path, headers, expected) in [
        ("/".to_owned(), vec![("Host", host)], 403),
        ("/board.js".to_owned(), vec![("Host", host)], 403),
        (format!("/{}/", "0".repeat(32)), vec![("Host", host)], 403),
        (format!("/{}/", &token[..16]), vec![("Host", host)], 403),
        (format!("/{}/socket", "0".repeat(32)), vec![("Host", host), ("Origin", &own)], 403),
        (page.clone(), vec![("Host", &localhost)], 200),
        (page.clone(), vec![("Host", &evil)], 403),
        (page.clone(), vec![], 403),
        (page.clone(), vec![("Host", host), ("Host", host)], 403),
        (page.clone(), vec![("Host", host), ("Origin", "http://evil.example")], 403),
        (page.clone(), vec![("Host", host), ("Origin", "null")], 403),
        (page.clone(), vec![("Host", host), ("Origin", &secure)], 403),
        (socket.clone(), vec![("Host", host), ("Origin", "http://evil.example")], 403),
        (socket.clone(), vec![("Host", host)], 403),
        (socket, vec![("Host", &evil), ("Origin", "http://evil.example")], 403),
        (format!("{page}../board.js"), vec![("Host", host)], 404),
        (format!("{page}Cargo.toml"), vec![("Host", host)], 404),
    ] {
        let headers =
            if path.ends_with("socket") { [&headers[..], &upgrade].concat() } else { headers };
        let (status, answer) = server.ask(&path, &headers)?;
        assert_eq!(status, expected, "{path} {headers:?}");
        assert!(!answer.contains(token), "{answer}");
    }
    Ok(())
}

#[test]
fn only_the_page_itself_sends_files_and_they_have_limits() -> Result<()> {
    let server = Server::start(&[])?;
    let (host, token) = (server.host.as_str(), server.token());
    let own = format!("http://{host}");
    let path = format!("/{token}/games/a.pgn");
    let is_sent = [("Host", host), ("Origin", own.as_str())];
    for (path, headers, expected) in [
        (&path, &is_sent[..], 200),
        (&path, &is_sent[..1], 403),
        (&path, &[("Host", host), ("Origin", "http://evil.example")], 403),
        (&path, &[("Host", "evil.example"), ("Origin", "http://evil.example")], 403),
        (&format!("/{}/games/a.pgn", "0".repeat(32)), &is_sent[..], 403),
        (&format!("/{token}/board.js"), &is_sent[..], 405),
    ] {
        let (status, answer) = server.send("POST", path, headers, b"1. e4 *")?;
        assert_eq!(status, expected, "{path} {headers:?} {answer}");
    }
    assert_eq!(server.ask(&path, &is_sent)?.0, 405);
    let large = " ".repeat(5_000_001).into_bytes();
    assert_eq!(server.send("POST", &path, &is_sent, &large)?.0, 413);
    let packed = zstd::encode_all(&vec![b' '; 1 << 26][..], 1)?;
    let games = server.games("a.pgn.zst", &packed)?;
    let fault = games[0]["fault"].as_str().unwrap_or_default();
    assert!(fault.starts_with("the text has more than 5 MB"), "{games}");
    assert_eq!(server.games("a.pgn", b"1. e4 *")?[0]["nodes"][0]["uci"], "e2e4");
    Ok(())
}

#[test]
fn two_files_are_read_at_a_time() -> Result<()> {
    let server = Server::start(&[])?;
    let game = b"1. e4 *";
    let mut streams = (0..3).map(|_| server.begin_to_send(game.len()));
    let mut streams: Vec<TcpStream> = streams.by_ref().collect::<Result<_>>()?;
    sleep(Duration::from_millis(500));
    streams[2].write_all(game)?;
    streams[2].set_read_timeout(Some(Duration::from_millis(500)))?;
    assert!(streams[2].read(&mut [0]).is_err(), "the third file was read");
    streams[2].set_read_timeout(Some(PATIENCE))?;
    streams[0].write_all(game)?;
    for stream in [&mut streams.swap_remove(0), &mut streams[0]] {
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    Ok(())
}

#[test]
fn odd_games_are_read_for_the_page() -> Result<()> {
    let server = Server::start(&[])?;
    let mut faults = Vec::new();
    for file in odd_files()? {
        let games = server.games(&file.name, &file.bytes)?;
        let games = games.as_array().context("no list")?;
        let found: Vec<Found> = games.iter().map(found).collect();
        faults.extend(file.check(&found).err());
    }
    ensure!(faults.is_empty(), "{faults:#?}");
    Ok(())
}

/// A game of the server's answer. The first child of a node goes on with its line.
fn found(game: &Value) -> Found {
    let text = |name: &str| game[name].as_str().map(str::to_owned);
    let nodes = game["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (mut at, mut moves) = (0, Vec::new());
    while let Some(next) = nodes.iter().position(|node| node["parent"] == at) {
        moves.push(nodes[next]["uci"].as_str().unwrap_or_default());
        at = next + 1;
    }
    Found {
        start: text("fen").unwrap_or_default(),
        moves: moves.join(" "),
        result: text("result"),
        fault: text("fault"),
        is_refused: game.get("fen").is_none(),
    }
}

#[test]
fn a_page_that_sends_garbage_gets_errors_and_hurts_nobody() -> Result<()> {
    let server = Server::start(&["--searches", "1"])?;
    let mut good = server.connect()?;
    let run = |fen: &str, moves: &[&str], task: Value| {
        json!({"type": "run", "id": 1, "fen": fen, "moves": moves, "task": task}).to_string()
    };
    let beam = json!({"name": "beam"});
    let play = json!({"name": "play", "elo": 1, "seed": 1, "time": {"milliseconds": 1}});
    let analyse = |name: &str| json!({"name": "analyse", "lines": 1, name: 0});
    let why = json!({"name": "why", "compared": ["x".repeat(1000)]});
    for (message, expected) in [
        ("", "cannot be read"),
        ("{}", "cannot be read"),
        ("{\"type\":\"run\"}", "cannot be read"),
        ("{\"type\":\"stop\",\"more\":1}", "cannot be read"),
        (&run("x", &[], beam.clone()), "FEN"),
        (&run("startpos", &[], analyse("threads")), "cannot be read"),
        (&run("startpos", &[], analyse("hash")), "cannot be read"),
        (&run("startpos", &["e5"], beam.clone()), "half-move 1"),
        (&run("startpos", &["e\n5"], beam.clone()), "half-move 1"),
        (&run("startpos", &[], why), "'xxxxxxxxxxxxxxxxxxxx…' is not legal"),
        (&run("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &[], beam), "over"),
        (&run("startpos", &[], play), "rating 1"),
    ] {
        good.socket.send(Message::text(message))?;
        let event = good.next("error")?;
        let said = event["message"].as_str().unwrap_or_default();
        assert!(said.contains(expected) && !said.contains('\n'), "{message}: {said}");
    }
    // The server closes a connection that sends many unreadable messages, a binary message, or one
    // that is too large.
    let mut bad = server.connect()?;
    let closed = loop {
        let _ = bad.socket.send(Message::text("[[[["));
        match bad.socket.read() {
            Ok(Message::Close(frame)) => break frame.map(|frame| frame.code),
            Ok(_) => {}
            Err(error) => anyhow::bail!("{error}"),
        }
    };
    assert_eq!(closed, Some(CloseCode::Policy));
    for message in [Message::binary(vec![0; 10]), Message::text("x".repeat(1 << 20))] {
        let mut bad = server.connect()?;
        let _ = bad.socket.send(message);
        while bad.socket.read().is_ok_and(|message| !message.is_close()) {}
    }
    // Bytes that are no HTTP at all.
    let mut stream = TcpStream::connect(server.address()?)?;
    stream.write_all(&[0xff; 4096])?;
    // Thousands of tasks in a row: the last one is answered.
    for id in 10..3_000 {
        good.run(id, &analysis())?;
    }
    good.run(3_000, &json!({"name": "analyse", "lines": 1, "milliseconds": 50}))?;
    while good.next("ended")?["id"] != 3_000 {}
    Ok(())
}

#[test]
fn pages_take_turns_and_a_page_that_goes_leaves_its_seat() -> Result<()> {
    let server = Server::start(&["--searches", "1"])?;
    let [mut first, mut second, mut third] =
        [server.connect()?, server.connect()?, server.connect()?];
    first.run(1, &analysis())?;
    first.next("info")?;
    second.run(1, &analysis())?;
    assert_eq!(second.next("queued")?["place"], 1);
    third.run(1, &analysis())?;
    assert_eq!(third.next("queued")?["place"], 2);
    // The first page disconnects without a message.
    drop(first);
    second.next("begun")?;
    assert_eq!(third.next("queued")?["place"], 1);
    second.say(&json!({"type": "stop"}))?;
    assert_eq!(second.next("ended")?["reason"], "stopped");
    third.next("begun")?;
    // A page that waits long enough gets its turn.
    second.run(2, &analysis())?;
    assert_eq!(third.next("ended")?["reason"], "turn");
    second.next("begun")?;
    Ok(())
}

#[test]
fn a_page_chooses_threads_and_hash_up_to_limits() -> Result<()> {
    let server = Server::start(&[])?;
    let first = server.connect()?.welcome;
    assert_eq!((&first["threads"][0], &first["hash"]), (&json!(1), &json!([64, 512])));
    assert!(first["threads"][1].as_u64() >= Some(1), "{first}");
    let server = Server::start(&["--threads", "2", "--hash", "16"])?;
    let first = server.connect()?.welcome;
    assert_eq!((&first["threads"], &first["hash"]), (&json!([2, 2]), &json!([16, 16])));
    let mut page = server.connect()?;
    // No machine has a petabyte of memory.
    for (id, hash) in [(1, 1_000_000_000), (2, 1)] {
        let mut task = analysis();
        task["milliseconds"] = json!(50);
        task["threads"] = json!(9);
        task["hash"] = json!(hash);
        page.run(id, &task)?;
        page.next("info")?;
        assert_eq!(page.next("ended")?["id"], id);
    }
    Ok(())
}

#[test]
fn a_report_sends_no_result_of_an_interrupted_search() -> Result<()> {
    let server = Server::start(&[])?;
    let mut page = server.connect()?;
    page.run(1, &json!({"name": "report", "milliseconds": 10_000}))?;
    page.next("begun")?;
    page.say(&json!({"type": "stop"}))?;
    assert_eq!(page.event()?["type"], "ended");
    Ok(())
}

#[test]
fn every_task_answers_with_what_the_commands_print() -> Result<()> {
    let server = Server::start(&[])?;
    let mut page = server.connect()?;
    page.run(1, &json!({"name": "why", "compared": ["h4"]}))?;
    let why = loop {
        let event = page.next("why")?;
        if event["complete"] == true {
            break event;
        }
    };
    let explanation = &why["explanation"];
    assert!(explanation["reason"].as_str().is_some_and(|reason| reason.contains("h4")), "{why}");
    let expected = why["expected"].as_array().context("expected scores")?;
    let moves = explanation["moves"].as_array().context("moves")?;
    assert_eq!((expected.len(), moves.len()), (20, 20));
    for (score, mv) in expected.iter().zip(moves) {
        assert_eq!(score.is_null(), mv["searched"].is_null() && mv["own_search"].is_null(), "{mv}");
        assert!(score.as_f64().is_none_or(|score| (0.0..=1.0).contains(&score)), "{mv}");
    }
    page.next("ended")?;
    page.run(2, &json!({"name": "beam"}))?;
    for depth in 1..=6 {
        let tree = page.next("tree")?;
        assert_eq!(tree["depth"], depth);
        let kept = "/tree".to_owned() + &"/kept/0".repeat(depth);
        assert!(tree.pointer(&kept).is_some_and(|last| last.get("kept").is_none()), "{tree}");
        let known = |name: &str| tree["tree"][name].as_array().map_or(0, Vec::len) as u64;
        let moves = known("kept") + known("dropped") + tree["tree"]["others"].as_u64().unwrap_or(0);
        assert_eq!(moves, 20, "{tree}");
    }
    page.next("ended")?;
    let mate = ["f3", "e5", "g4", "Qh4#"];
    page.run_at(3, "startpos", &mate, &json!({"name": "report", "milliseconds": 20}))?;
    let judged: Vec<Value> = (0..5).map(|_| page.next("judged")).collect::<Result<_>>()?;
    assert_eq!((&judged[4]["score"]["mate"], &judged[4]["wdl"]), (&json!(0), &Value::Null));
    page.next("ended")?;
    page.run_at(4, "startpos", &mate[..3], &json!({"name": "space", "sample": true}))?;
    let space = page.next("space")?;
    let count = |name: &str| space[name].as_array().map(Vec::len);
    assert_eq!(["path", "candidates", "near"].map(count), [4, 30, 4].map(Some));
    // Where White is better, the sample lies more to the right.
    let sample = space["sample"].as_array().context("a sample")?;
    let mean = |won: bool| {
        let places = sample.iter().filter(|one| (one["p"].as_f64() > Some(0.5)) == won);
        let places: Vec<f64> = places.filter_map(|one| one["at"][0].as_f64()).collect();
        places.iter().sum::<f64>() / places.len() as f64
    };
    assert!(mean(true) > mean(false) + 0.1);
    page.next("ended")?;
    for elo in [641, 1500, 2500] {
        let time = json!({"left": [2000, 2000], "increment": 100});
        page.run(5, &json!({"name": "play", "elo": elo, "seed": 7, "time": time}))?;
        let played = page.next("move")?;
        assert!(played["uci"].as_str().is_some_and(|uci| uci.len() == 4), "{played}");
        page.next("ended")?;
    }
    Ok(())
}

#[test]
fn the_tablebases_know_every_move_of_a_small_position() -> Result<()> {
    let server = Server::start(&[])?;
    let mut page = server.connect()?;
    let mut distances = |id: u32, fen: &str| -> Result<Vec<(String, i64)>> {
        page.run_at(id, fen, &[], &json!({"name": "tablebase"}))?;
        let event = page.next("tablebase")?;
        page.next("ended")?;
        let moves = event["moves"].as_array().context("moves")?;
        let known = |mv: &Value| Some((mv["uci"].as_str()?.to_owned(), mv["dtz"].as_i64()?));
        moves.iter().map(known).collect::<Option<_>>().context("a move with its distance")
    };
    // Only the mate ends the game.
    let won = distances(1, "7k/8/6K1/8/8/8/8/R7 w - - 0 1")?;
    assert_eq!(won.len(), 20);
    for (uci, dtz) in &won {
        assert_eq!(*dtz > 0, uci != "a1a8", "{uci} {dtz}");
    }
    let lost = distances(2, "6k1/8/6K1/8/8/8/8/R7 b - - 0 1")?;
    assert!(lost.len() == 2 && lost.contains(&("g8h8".to_owned(), -1)), "{lost:?}");
    let drawn = distances(3, "8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")?;
    assert_eq!(drawn.iter().map(|(_, dtz)| *dtz).max(), Some(0));
    // Too many pieces, castling, and no legal move.
    let castling = "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1";
    for fen in ["startpos", castling, "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1"] {
        assert!(distances(4, fen)?.is_empty(), "{fen}");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_pages_leave_the_server_alive_and_small() -> Result<()> {
    let server = Server::start(&["--searches", "2", "--hash", "16"])?;
    let mut one = server.connect()?;
    one.run(1, &json!({"name": "analyse", "lines": 1, "milliseconds": 300}))?;
    one.next("ended")?;
    let alone = azimuth_tests::memory_and_handles(server.id())?.0;
    let mut pages: Vec<Page> = (0..99).map(|_| server.connect()).collect::<Result<_>>()?;
    for page in &mut pages {
        page.run(1, &json!({"name": "analyse", "lines": 3, "milliseconds": 20}))?;
    }
    for page in &mut pages {
        page.next("ended")?;
    }
    let crowded = azimuth_tests::memory_and_handles(server.id())?.0;
    eprintln!("one page {alone} kB, a hundred pages {crowded} kB");
    // The limit allows a second search with its tables, and less than 1 MB for each page.
    assert!(crowded < alone + 160_000, "{alone} kB, then {crowded} kB");
    one.run(2, &json!({"name": "analyse", "lines": 1, "milliseconds": 20}))?;
    one.next("ended")?;
    Ok(())
}

#[cfg(unix)]
#[test]
fn idle_connections_keep_no_page_out() -> Result<()> {
    let mut server = Server::start(&[])?;
    let address = server.address()?;
    let mut idle = Vec::new();
    for number in 0..600 {
        let mut stream = TcpStream::connect(address)?;
        if number % 2 == 0 {
            write!(stream, "GET / HTTP/1.1\r\n")?;
        }
        idle.push(stream);
    }
    let began = Instant::now();
    let page = format!("/{}/", server.token());
    let (status, _) = server.ask(&page, &[("Host", &server.host)])?;
    ensure!(status == 200 && began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // Even then a file may take its time, and slow headers may not.
    let text = vec![b' '; 200_000];
    let mut slow = TcpStream::connect(address)?;
    write!(slow, "GET / HTTP/1.1\r\n")?;
    let mut upload = server.begin_to_send(text.len())?;
    let mut is_cut = false;
    for part in text.chunks(10_000) {
        upload.write_all(part)?;
        is_cut |= write!(slow, "x").is_err();
        sleep(Duration::from_millis(150));
    }
    let mut answer = String::new();
    upload.read_to_string(&mut answer)?;
    ensure!(is_cut && answer.starts_with("HTTP/1.1 200 "), "{is_cut} {answer}");
    drop(idle);
    ensure!(server.interrupt()?.0.success());
    Ok(())
}

#[test]
fn a_second_engine_analyses_beside_azimuth() -> Result<()> {
    let mut server = Server::start(&["--engine", &text(&binary("azimuth")?)])?;
    let (mut page, mut second) = (server.connect()?, server.connect()?);
    let name = page.welcome["second"].as_str().unwrap_or_default();
    assert!(name.starts_with("Azimuth "), "{}", page.welcome);
    page.run(1, &analysis())?;
    second.run(1, &second_analysis())?;
    let both = |info: &Value| info["lines"].as_array().is_some_and(|lines| lines.len() == 2);
    let info = next_info(&mut second, both)?;
    assert!(info["nodes"].as_u64() > Some(0) && info["lines"][1]["pv"][0].is_string(), "{info}");
    assert!(info["lines"][0]["score"]["cp"].is_i64(), "{info}");
    page.next("info")?;
    // Another position takes the place of the first one. Moves lead to it.
    second.run_at(2, "7k/5ppp/8/8/8/8/8/R3K3 b - - 0 1", &["Kg8"], &second_analysis())?;
    let mate = next_info(&mut second, |info| info["lines"][0]["score"]["mate"] == 1)?;
    assert_eq!((&mate["id"], &mate["lines"][0]["pv"]), (&json!(2), &json!(["a1a8"])));
    // A page that waits gets the engine when the other one goes.
    let mut third = server.connect()?;
    third.run(1, &second_analysis())?;
    assert_eq!(third.next("queued")?["place"], 1);
    drop(second);
    next_info(&mut third, both)?;
    third.say(&json!({"type": "stop"}))?;
    assert_eq!(third.next("ended")?["reason"], "stopped");
    third.run(2, &second_analysis())?;
    next_info(&mut third, both)?;
    let (status, time) = server.interrupt()?;
    assert!(status.success() && time < Duration::from_secs(5), "{status} {time:?}");
    Ok(())
}

#[test]
fn without_a_second_engine_nobody_can_use_one() -> Result<()> {
    let server = Server::start(&[])?;
    let mut page = server.connect()?;
    assert!(page.welcome.get("second").is_none(), "{}", page.welcome);
    for (task, expected) in [
        (second_analysis(), "there is no second engine"),
        (json!({"name": "second_engine", "lines": 1, "path": "/bin/sh"}), "cannot be read"),
    ] {
        page.run(1, &task)?;
        let event = page.next("error")?;
        let said = event["message"].as_str().unwrap_or_default();
        assert!(said.contains(expected), "{said}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_second_engine_that_misbehaves_hurts_nobody() -> Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("engine");
    for (answer, expected) in [
        ("exit", "engine 'engine': it ended"),
        ("echo info depth 1 score cp 1 pv e2e5", "engine 'engine': move 'e2e5' is not legal in "),
        ("echo bestmove e2e4", "engine 'engine': it chose a move without a line of moves"),
    ] {
        let script = format!(
            "#!/bin/sh\nwhile read -r command rest; do case $command in uci) echo uciok;; isready) \
             echo nonsense; echo readyok;; go) {answer};; quit) exit;; esac; done\n"
        );
        std::fs::write(&path, script)?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755))?;
        let server = Server::start(&["--engine", &text(&path)])?;
        let mut page = server.connect()?;
        assert_eq!(page.welcome["second"], "engine");
        // The second task starts the engine again.
        for id in 1..3 {
            page.run(id, &second_analysis())?;
            let event = page.next("error")?;
            let said = event["message"].as_str().unwrap_or_default();
            assert!(said.starts_with(expected) && !said.contains('\n'), "{answer}: {said}");
            assert_eq!(event["id"], id);
        }
        page.run(3, &analysis())?;
        page.next("info")?;
    }
    // An engine that obeys neither `stop` nor `quit` is killed, also when the server ends.
    let number = folder.path().join("number");
    let deaf = format!(
        "#!/bin/sh\necho $$ > '{}'\nwhile read -r command rest; do case $command in uci) echo \
         uciok;; isready) echo readyok;; quit) exec sleep 60;; esac; done\n",
        number.display()
    );
    std::fs::write(&path, deaf)?;
    let is_alive = || -> Result<bool> {
        let number = std::fs::read_to_string(&number)?;
        let mut signal = Command::new("kill");
        Ok(signal.args(["-0", number.trim()]).stderr(Stdio::null()).status()?.success())
    };
    let mut server = Server::start(&["--engine", &text(&path)])?;
    let mut page = server.connect()?;
    page.run(1, &second_analysis())?;
    page.next("begun")?;
    assert!(is_alive()?);
    page.say(&json!({"type": "stop"}))?;
    let said = page.next("error")?["message"].take();
    assert!(said.as_str().is_some_and(|it| it.contains("no answer to 'stop'")), "{said}");
    assert!(!is_alive()?);
    page.run(2, &analysis())?;
    page.next("info")?;
    page.run(3, &second_analysis())?;
    while page.next("begun")?["id"] != 3 {}
    let is_started = || is_alive().is_ok_and(|alive| alive);
    azimuth_tests::wait_until("the task does not start the engine again", is_started)?;
    let (status, time) = server.interrupt()?;
    assert!(status.success() && time < Duration::from_secs(5), "{status} {time:?}");
    assert!(!is_alive()?);
    for (program, reason) in [("missing", "cannot start"), ("/bin/true", "engine 'true': it")] {
        let error = refusal("azimuth", &["serve", "--no-open", "--engine", program])?;
        let begin = format!("azimuth: --engine '{program}' names no UCI engine: ");
        assert!(error.starts_with(&begin) && error.contains(reason), "{error}");
    }
    Ok(())
}

/// The task of analysing with the second engine.
fn second_analysis() -> Value {
    json!({"name": "second_engine", "lines": 2})
}

/// The next state of a search that `is_wanted` accepts.
fn next_info(page: &mut Page, is_wanted: impl Fn(&Value) -> bool) -> Result<Value> {
    loop {
        let info = page.next("info")?;
        if is_wanted(&info) {
            return Ok(info);
        }
    }
}

#[test]
fn a_port_that_is_taken_and_weights_that_are_missing_are_errors_of_one_line() -> Result<()> {
    let server = Server::start(&[])?;
    let port = server.host.rsplit_once(':').context("no port")?.1;
    for (arguments, expected) in [
        (["--port", port], "cannot listen on 127.0.0.1, port "),
        (["--weights", "missing"], "missing"),
        (["--syzygy", "missing"], "--syzygy: Syzygy folder 'missing'"),
    ] {
        let error = refusal("azimuth", &[&["serve", "--no-open"], &arguments[..]].concat())?;
        assert!(error.contains(expected), "{error}");
    }
    Ok(())
}

/// Runs a scenario of the page in Chromium.
fn scenario(name: &str) -> Result<()> {
    let server = Server::start(&[])?;
    scenario_at(&server.page, name)
}

fn scenario_at(page: &str, name: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let printed = python("serve_page.py", &[page, name, &text(folder.path())])?;
    assert_eq!(printed, format!("{name}: as it should be\n"));
    Ok(())
}

macro_rules! scenarios {
    ($($test:ident => $name:literal;)*) => {$(
        #[test]
        fn $test() -> Result<()> {
            scenario($name)
        }
    )*};
}

scenarios! {
    a_game_is_played_to_mate => "play";
    a_game_on_a_clock_has_everything_at_the_board => "clocks";
    an_analysis_follows_the_position => "analyse";
    a_game_with_variations_is_read_and_its_script_stays_text => "variations";
    files_of_every_kind_are_read => "files";
    every_tab_keeps_its_game => "tabs";
    a_position_is_set_up_and_looked_up => "editor";
    moves_are_explained => "why";
    the_space_shows_the_game => "space";
    the_page_is_in_german_for_those_who_want_it => "language";
    a_report_is_read_by_keys => "report";
    a_lost_connection_is_found_again => "connection";
    an_address_leads_to_a_position => "links";
    every_tab_is_accessible_in_every_size_and_theme => "everywhere";
}

#[test]
fn the_page_shows_a_second_engine() -> Result<()> {
    let server = Server::start(&["--engine", &text(&binary("azimuth")?)])?;
    scenario_at(&server.page, "second")
}

#[test]
fn a_page_says_that_the_server_was_started_again() -> Result<()> {
    scenario_at(&text(&binary("azimuth")?), "restart")
}

#[test]
fn a_limited_strength_takes_the_time_of_a_person_on_a_clock() -> Result<()> {
    let mut server = Server::start(&[])?;
    let mut page = server.connect()?;
    let mut pause = |id, elo: Option<u32>, time: Value| -> Result<Option<u64>> {
        page.run(id, &json!({"name": "play", "elo": elo, "seed": 1, "time": time}))?;
        let pause = page.next("move")?["pause"].as_u64();
        page.next("ended")?;
        Ok(pause)
    };
    let clock = json!({"left": [600_000, 600_000], "increment": 5_000});
    let short = json!({"milliseconds": 20});
    assert!(pause(1, Some(1500), clock)?.is_some_and(|pause| (500..60_000).contains(&pause)));
    assert_eq!(pause(2, Some(1500), short.clone())?, Some(0));
    // A fast move of full strength takes its time in the search.
    assert_eq!(pause(3, None, json!({"left": [1_000, 1_000], "increment": 0}))?, Some(0));
    server.interrupt()?;
    Ok(())
}

#[test]
fn ctrl_c_ends_the_server_while_pages_search() -> Result<()> {
    let mut server = Server::start(&[])?;
    let mut pages = [server.connect()?, server.connect()?];
    for page in &mut pages {
        page.run(1, &analysis())?;
        page.next("begun")?;
    }
    let (status, time) = server.interrupt()?;
    assert!(status.success(), "{status}");
    assert!(time < Duration::from_secs(5), "{time:?}");
    Ok(())
}

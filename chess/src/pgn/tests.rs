//! The reader on good, bad and hostile input. The games of `tests/data/odd-games` are the test of
//! notations, of faults and of the ends of games.

use anyhow::{Context, Result};

use super::*;
use crate::position::{Position, STARTPOS};
use crate::san::san_of_move;

fn games(text: &str) -> Result<Vec<Result<Game, BadGame>>> {
    let mut reader = Reader::new(text.as_bytes());
    let mut games = Vec::new();
    while let Some(game) = reader.read_game::<Game>()? {
        games.push(game.and_then(Game::complete));
        assert_eq!(reader.taken(), games.len() as u64);
    }
    Ok(games)
}

/// The only game of a text.
fn game(text: &str) -> Result<Game> {
    Ok(games(text)?.pop().context("no game")??)
}

/// Every node with its parent, as `parent-id id move ply`, the comments and the glyphs. If it is
/// `FORGIVING`, variations end before their first illegal move.
struct Nodes<const FORGIVING: bool>(Vec<String>);

type Places = Nodes<false>;

impl<const FORGIVING: bool> GameBuilder for Nodes<FORGIVING> {
    type Game = Vec<String>;

    const VARIATIONS: bool = true;

    fn begin(_: Tags, _: Position) -> Self {
        Self(Vec::new())
    }

    fn dropped_rights(&mut self, rights: String) {
        self.0.push(format!("without {rights}"));
    }

    fn play(&mut self, Line { before, after }: &Line) -> Result<()> {
        let mv = after.mv.context("a place after a move has one")?;
        let san = san_of_move(&before.board, mv);
        self.0.push(format!("{} {} {san} ply {}", before.id, after.id, after.ply));
        Ok(())
    }

    fn comment(&mut self, line: &Line, text: &str) -> Result<()> {
        anyhow::ensure!(text != "refuse", "a comment says so");
        self.0.push(format!("{} {text}", line.after.id));
        Ok(())
    }

    fn glyph(&mut self, line: &Line, nag: u8) {
        self.0.push(format!("{} ${nag}", line.after.id));
    }

    fn forgive(&mut self, fault: Fault) -> Result<(), Fault> {
        if FORGIVING { Ok(()) } else { Err(fault) }
    }

    fn end(self) -> Vec<String> {
        self.0
    }
}

#[test]
fn a_game_has_its_tags_start_moves_comments_and_result() -> Result<()> {
    let text = "\u{feff}[White \"a \\\"b\\\" c\"]\n[Black \"?\"]\n[FEN \"1k6/8/8/8/8/8/8/5KR1 w G - 120 9\"]\n\
                [Variant \"Chess960\"]\n[Result \"1/2-1/2\"]\n\n\
                {before\nall} 9. O-O (9. Ke2 {left out}) {one} {two} 9... Kb7 $1 ; rest\n1/2-1/2\n";
    let game = game(text)?;
    assert_eq!(game.tags.get("White"), Some("a \"b\" c"));
    assert_eq!((game.tags.get("Black"), game.tags.known("Black")), (Some("?"), None));
    assert_eq!(game.tags.get("Event"), None);
    assert_eq!(game.start.halfmove_clock(), 120);
    assert_eq!(
        (game.result(), game.comments.as_slice()),
        (Some(Outcome::Draw), &["before all".to_owned()][..])
    );
    let moves: Vec<(String, usize)> =
        game.moves.iter().map(|played| (played.mv.to_string(), played.comments.len())).collect();
    assert_eq!(moves, [("f1g1".to_owned(), 2), ("b8b7".to_owned(), 0)]);
    let line: Vec<_> = game.moves.iter().map(|played| played.mv).collect();
    assert_eq!(game.start.after_line(&line).fen(false), "8/1k6/8/8/8/8/8/5RK1 w - - 122 10");
    Ok(())
}

#[test]
fn variations_branch_off_before_the_last_move() -> Result<()> {
    let text = "{start} 1. e4 (1. d4 d5 (1... Nf6 {in two}) 2. c4) (1. c4 {in one}) 1... e5 *";
    let read = Reader::new(text.as_bytes()).read_game::<Places>()?.context("no game")??;
    let expected = [
        "0 start",
        "0 1 e4 ply 1",
        "0 2 d4 ply 1",
        "2 3 d5 ply 2",
        "2 4 Nf6 ply 2",
        "4 in two",
        "3 5 c4 ply 3",
        "0 6 c4 ply 1",
        "6 in one",
        "1 7 e5 ply 2",
    ];
    assert_eq!(read, expected);
    Ok(())
}

#[test]
fn dropped_castling_rights_are_told() -> Result<()> {
    let text = "[FEN \"4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1\"]\n\n{start} 1. O-O *\n";
    let read = Reader::new(text.as_bytes()).read_game::<Places>()?.context("no game")??;
    assert_eq!(read, ["without Qkq", "0 start", "0 1 O-O ply 1"]);
    Ok(())
}

#[test]
fn a_variation_can_end_before_an_illegal_move() -> Result<()> {
    let text = "1. e4! (1. d4 Ke4 $2 {no} (1... d5 {nor this} Kd7) 2. c4 $3) 1... e5 {yes} *\n\n\
                1. e4 (1. d4 Ke4) 1... Ke5 *\n";
    let mut reader = Reader::new(text.as_bytes());
    let read = reader.read_game::<Nodes<true>>()?.context("no game")??;
    assert_eq!(read, ["0 1 e4 ply 1", "1 $1", "0 2 d4 ply 1", "1 3 e5 ply 2", "3 yes"]);
    let bad = reader.read_game::<Nodes<true>>()?.context("no game")?.expect_err("the main line");
    assert!(bad.to_string().contains("'Ke5'"), "{bad}");
    Ok(())
}

#[test]
fn a_bad_game_is_named_and_those_after_it_are_read() -> Result<()> {
    let text = "1. e4 e5 2. Ke3 Nf6 *\n\n\
                [FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 *\n\n\
                [Variant \"Atomic\"]\n\n1. e4 *\n\n\
                1. e4 -- *\n\n\
                1. Nf3 Nf6 2. Ng5 Ng4 3. N1f3 *\n\n\
                1. e4 *\n";
    let read = games(text)?;
    let faults: Vec<String> =
        read.iter().filter_map(|game| game.as_ref().err()).map(BadGame::to_string).collect();
    let expected = [
        "game 1: half-move 3: move 'Ke3' is not legal in",
        "game 2: FEN '8/8/8/8/8/8/8/8 w - - 0 1': not a legal board",
        "game 3: the variant 'atomic' is not chess",
        "game 4: half-move 2: a null move",
        "game 5: half-move 5: move 'N1f3' is not legal in",
    ];
    assert_eq!(faults.len(), expected.len());
    for (found, expected) in faults.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(read[5].as_ref().map_or(0, |game| game.moves.len()), 1);

    let mut reader = Reader::new("1. e4 {refuse} *\n\n1. d4 *\n".as_bytes());
    let bad = reader.read_game::<Places>()?.context("no game")?.expect_err("refused");
    assert_eq!(bad.to_string(), "game 1: a comment says so");
    assert_eq!(reader.read_game::<Places>()?.context("no game")??, ["0 1 d4 ply 1"]);
    Ok(())
}

#[test]
fn of_tags_with_one_name_the_last_one_counts() -> Result<()> {
    let game = game("[White \"a\"]\n[Result \"*\"]\n[White \"b\"]\n[Result \"1-0\"]\n\n1. e4 *\n")?;
    assert_eq!(game.tags.get("White"), Some("b"));
    assert_eq!((game.result(), game.tags.iter().count()), (Some(Outcome::WhiteWins), 4));
    Ok(())
}

#[test]
fn variants_with_chess_rules_are_read() -> Result<()> {
    let names = ["Standard", "chess", "Normal", "From Position", "Chess960", "fischerandom"];
    for name in names.into_iter().chain(["FischerRandom", "Illegal", "wild/8a", "", "?"]) {
        assert_eq!(game(&format!("[Variant \"{name}\"]\n\n1. e4 *\n"))?.moves.len(), 1, "{name}");
    }
    for name in ["wild/0", "wild/1", "wild/17"] {
        assert!(game(&format!("[Variant \"{name}\"]\n\n1. e4 *\n")).is_err(), "{name}");
    }
    Ok(())
}

#[test]
fn no_more_half_moves_are_read_than_asked_for() -> Result<()> {
    let text = "1. e4 e5 2. Ke3 *\n\n1. d4 *\n";
    for (most, expected) in [(0, [0, 0]), (1, [1, 1]), (2, [2, 1])] {
        let mut reader = Reader::new(text.as_bytes()).with_most_plies(most);
        for plies in expected {
            let game = reader.read_game::<Game>()?.context("no game")??;
            assert_eq!(game.moves.len(), plies, "{most}");
        }
        assert!(reader.read_game::<Game>()?.is_none());
    }
    Ok(())
}

/// The error of a game that consists of `before` and of `text` repeated `times` times, and the
/// nodes of the next game.
fn endless<B: GameBuilder>(
    before: &str,
    text: &str,
    times: usize,
) -> Result<(String, Option<Vec<String>>)> {
    let input = format!("{before}{}\n\n[White \"b\"]\n\n1. e4 *\n", text.repeat(times));
    let mut reader = Reader::new(input.as_bytes());
    let bad = reader.read_game::<B>()?.context("no game")?.err().context("it was read")?;
    Ok((bad.to_string(), reader.read_game::<Places>()?.transpose()?))
}

#[test]
fn a_game_without_an_end_is_refused_and_the_next_is_read() -> Result<()> {
    let most = MOST_MOVES as usize;
    let next = Some(vec!["0 1 e4 ply 1".to_owned()]);
    assert_eq!(
        endless::<Places>("", "Nf3 Nf6 Ng1 Ng8 ", most / 4 + 1)?,
        ("game 1: more than 1048576 moves in one game".to_owned(), next.clone())
    );
    assert_eq!(
        endless::<Places>("e4 ", "( d4 ", most / 4 + 1)?,
        ("game 1: more than 262144 nested variations in one game".to_owned(), next.clone())
    );
    assert_eq!(
        endless::<Game>("e4 ", "{} ", 4 * most)?,
        ("game 1: more than 67108864 bytes of comments in one game".to_owned(), next.clone())
    );
    // The tag and the move after the tags belong to the same game, so no other game follows.
    assert_eq!(
        endless::<Game>("", "[a \"\"]\n", most)?,
        ("game 1: more than 16777216 bytes of tags in one game".to_owned(), None)
    );
    Ok(())
}

#[test]
fn noise_is_no_game() -> Result<()> {
    assert!(games("")?.is_empty() && games(" \n\n\n")?.is_empty());
    for text in ["\u{1}\u{2}PK", ")))((", "[[[[", "[White", "1. 1. 1.", "{", "%\n;"] {
        let mut reader = Reader::new(text.as_bytes());
        if let Ok(Some(Ok(game))) = reader.read_game::<Game>() {
            assert_eq!((game.moves.len(), game.start.fen(false).as_str()), (0, STARTPOS), "{text}");
        }
    }
    Ok(())
}

#[test]
fn a_tag_over_several_lines_is_an_error_on_one() -> Result<()> {
    for (text, part) in [
        ("[FEN \"1rk3r1\n[SetUp \"1\"]\n\n1. e4 *\n", "FEN '1rk3r1"),
        ("[Variant \"Ato\r\nmic\"]\n\n1. e4 *\n", "variant 'ato'"),
    ] {
        let error = games(text)?.remove(0).expect_err("a bad tag").to_string();
        assert!(error.contains(part) && !error.contains(['\n', '\r']), "{error:?}");
    }
    Ok(())
}

#[test]
fn a_malformed_tag_is_an_error_of_the_game_with_the_tags_around_it() -> Result<()> {
    let fen = "[FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]";
    for tag in ["[Round 1]", "[White Elo \"2000\"]", "[Wei\u{df} \"x\"]"] {
        let read = games(&format!("{fen}\n{tag}\n[Black \"b\"]\n\n1. Kd2 *\n\n1. d4 *\n"))?;
        assert_eq!(read.len(), 2, "{tag}");
        let error = read[0].as_ref().err().context("no error")?.to_string();
        assert!(error.starts_with("game 1: half-move 1: '["), "{error}");
        assert!(read[1].is_ok(), "{tag}");
    }
    Ok(())
}

#[test]
fn a_repeated_result_is_no_game() -> Result<()> {
    for (text, games_and_moves) in [
        ("1. e4 1-0 1-0\n1. d4 d5 *", [1, 2]),
        ("1. e4 1-0 {a} 1/2-1/2 {b} *\r\n* [White \"x\"]\n\n1. d4 d5 *", [1, 2]),
        ("1. e4 1-0\n1-0\n\n1-0\n", [1, 0]),
        ("1. e4 1-0 1. d4 d5 *", [1, 2]),
        ("1. e4 1-0 ½-½\n\n1. d4 d5 *", [1, 2]),
    ] {
        let read = games(text)?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let moves: Vec<usize> = read.iter().map(|game| game.moves.len()).collect();
        assert_eq!(moves, games_and_moves, "{text}");
        assert_eq!(read[0].result(), Some(Outcome::WhiteWins), "{text}");
        let mut reader = Reader::new(text.as_bytes());
        assert!(reader.skip_game()? && reader.skip_game()? && !reader.skip_game()?, "{text}");
    }
    Ok(())
}

#[test]
fn comments_and_results_belong_to_their_games() -> Result<()> {
    let text = "1. e4 1-0\r\n{of the first}\n\n{of the second} 1. d4 *\n{this, too}\n";
    let comments =
        games(text)?.into_iter().map(|game| game.map(|game| (game.comments, game.moves)));
    let comments = comments.collect::<Result<Vec<_>, _>>()?;
    let [(_, first), (before, second)] = comments.as_slice() else { panic!("{comments:?}") };
    assert_eq!(first[0].comments, ["of the first"]);
    assert_eq!((before[0].as_str(), &second[0].comments[0][..]), ("of the second", "this, too"));
    let mut reader = Reader::new(text.as_bytes());
    assert!(reader.skip_game()? && reader.skip_game()? && !reader.skip_game()?);
    let results: Vec<_> = games("1. e4 1-0\n\n[Result \"0-1\"]\n1. e4 1-0\n\n1. e4 *")?
        .into_iter()
        .map(|game| game.map(|game| game.result()))
        .collect::<Result<_, _>>()?;
    assert_eq!(results, [Some(Outcome::WhiteWins), Some(Outcome::BlackWins), None]);
    Ok(())
}

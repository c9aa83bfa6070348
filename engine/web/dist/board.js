/* Azimuth, GPL-3.0-or-later. With chessground and chessops, by lichess, GPL-3.0-or-later. */
"use strict";(()=>{var Za=(i,e,t)=>`${i} ${i===1?e:t}`,Ua={language:"Deutsch",number:(i,e)=>i.toFixed(e).replace(".",","),percent:i=>`${i} %`,tabs:{play:"Spielen",analyse:"Analyse",why:"Warum",space:"Raum",report:"Bericht"},side:{white:"Weiß",black:"Schwarz"},pieces:{pawn:"Bauer",knight:"Springer",bishop:"Läufer",rook:"Turm",queen:"Dame",king:"König"},toMove:i=>`${i} ist am Zug.`,described:(i,e)=>`Weiß: ${i}. Schwarz: ${e}.`,connection:{connecting:"Verbindung zur Engine …",loading:"Lädt …",open:"Verbunden",lost:"Die Engine antwortet nicht. Neuer Versuch …",renewed:"azimuth serve wurde neu gestartet. Öffnen Sie die neue Adresse, die es ausgibt."},queued:i=>i===1?"Warten auf die Engine: Diese Seite ist die nächste.":`Warten auf die Engine: Platz ${i} in der Warteschlange.`,ended:{done:"",stopped:"",turn:"Angehalten, damit eine andere Seite rechnen kann.",limit:"Nach zehn Minuten angehalten."},failed:i=>`Die Engine meldet: ${i}`,start:"Anfang",flip:"Brett drehen",first:"Erste Stellung",previous:"Voriger Zug",next:"Nächster Zug",last:"Letzte Stellung",help:"Tasten",close:"Schließen",moveInput:"Zug (Nf3 oder g1f3)",noSuchMove:i=>`„${i}“ ist hier kein legaler Zug.`,promotion:"Der Bauer wird",moves:"Züge",noMoves:"Noch keine Züge.",variation:"Variante",deleteFrom:"Ab hier löschen",promoteLine:"Zur Hauptvariante machen",anew:"Grundstellung",copied:"Kopiert.",engineOn:"Analysieren",engineOff:"Anhalten",lines:"Varianten",threads:"Threads",hash:"Hash (MB)",depth:(i,e)=>`Tiefe ${i}/${e}`,nodes:(i,e)=>`${i} Knoten, ${e}/s`,threat:"Drohung: der beste Zug der anderen Seite, wenn sie jetzt am Zug wäre.",noThreat:"Im Schach gibt es keine Drohung zu zeigen.",gameOver:"Die Partie ist zu Ende.",languageChoice:"Sprache",switches:{theme:"Dunkle Farben",squares:"Blaues Brett",sound:"Ton"},cancel:"Abbrechen",evaluation:(i,e)=>`Bewertung ${i}. ${e}`,wdl:(i,e,t)=>`Weiß: ${i} % Gewinn, ${e} % Remis, ${t} % Verlust`,playLine:i=>`${i} spielen`,load:"Stellung oder Partie laden",loadHint:"FEN, EPD oder PGN hier oder irgendwo auf der Seite einfügen.",loadButton:"Laden",openFile:"Datei öffnen …",game:"Partie",unread:i=>`Das ist nicht lesbar: ${i}.`,cut:i=>`Die Partie wurde bis zu einem Fehler gelesen: ${i}.`,variationCut:i=>`Eine Variante wurde bis zu einem Fehler gelesen: ${i}.`,rightsDropped:i=>`Die Rochaderechte ${i} der FEN entfallen: König oder Turm steht nicht dafür bereit.`,noPosition:i=>`Die Seite kann die Stellung „${i}“ nicht zeigen`,onlyFirst:i=>`Nur die ersten ${i} Partien oder Stellungen wurden gelesen.`,noAnswer:"Die Engine antwortet nicht",noGame:"In diesem Text ist keine Partie.",copyFen:"FEN kopieren",copyPgn:"PGN kopieren",savePgn:"PGN speichern",saveJson:"JSON speichern",fileTooLarge:"Die Datei ist größer als 5 MB.",explorer:(i,e)=>i<e?`Eröffnungsbuch: ${i} von ${e} Partien`:`Eröffnungsbuch: ${Za(e,"Partie","Partien")}`,explorerColumns:["Zug","Partien","Ergebnisse"],book:"Eröffnungsbuch der Engine",bookColumns:["Zug","Gespielt"],explorerNone:"Keine Partie geht von dieser Stellung weiter.",explorerResults:(i,e,t)=>`Weiß gewinnt ${i}, remis ${e}, Schwarz gewinnt ${t}`,tables:"Endspieltabelle",tablesHint:"DTZ: Halbzüge bis zum nächsten Schlag- oder Bauernzug der gewinnenden Seite",tablesColumns:["Zug","Ergebnis","Abstand"],dtz:i=>`DTZ ${i}`,outcomes:{win:"Gewinn",cursed:"Gewinn, den die 50-Züge-Regel verhindert",draw:"Remis",blessed:"Verlust, den die 50-Züge-Regel verhindert",loss:"Verlust"},kinds:{checkmate:"Schachmatt",stalemate:"Patt",insufficient:"Keine Seite kann mattsetzen",capture:"Schlagzug",pawn:"Bauernzug"},setUp:"Stellung aufbauen",fen:"FEN",analysePosition:"Diese Stellung analysieren",palette:"Figuren",tools:{hand:"Figuren ziehen",eraser:"Figuren entfernen"},toolSigns:{hand:"↖︎",eraser:"✕"},piece:(i,e)=>`${e} (${i})`,emptySquare:"leer",clearBoard:"Leeren",sideToMove:"Am Zug",castling:"Rochade",right:(i,e)=>`${i} ${e==="h"?"0-0":"0-0-0"}`,editorBoard:"Brett zum Aufbau einer Stellung. Die Pfeiltasten bewegen die Markierung, die Eingabetaste benutzt das gewählte Werkzeug. K Q R B N P setzen König, Dame, Turm, Läufer, Springer und Bauer von Weiß, k q r b n p die von Schwarz; Entf leert das Feld.",editorKeys:"Ziehen Sie Figuren, oder wählen Sie eine und tippen Sie auf Felder. Mit der Tastatur auf dem Brett: Pfeiltasten, K Q R B N P für König, Dame, Turm, Läufer, Springer und Bauer von Weiß, k q r b n p für Schwarz, Entf.",noFen:"Das ist keine FEN.",fenFaults:{ERR_FEN:"Eine FEN hat höchstens sechs Felder.",ERR_BOARD:"Das erste Feld der FEN braucht acht Reihen mit je acht Feldern.",ERR_TURN:"Die Seite am Zug ist in der FEN w oder b.",ERR_CASTLING:"Die Rochaderechte sind in der FEN - oder einige von KQkq.",ERR_EP_SQUARE:"Das En-passant-Feld ist in der FEN - oder ein Feld.",ERR_HALFMOVES:"Der Halbzugzähler der FEN ist keine Zahl von 0 bis 9999.",ERR_FULLMOVES:"Die Zugnummer der FEN ist keine Zahl von 0 bis 9999."},illegal:"Diese Stellung ist nicht legal.",setupFaults:{ERR_EMPTY:"Das Brett ist leer.",ERR_KINGS:"Jede Seite braucht genau einen König.",ERR_OPPOSITE_CHECK:"Die Seite, die nicht am Zug ist, steht im Schach.",ERR_PAWNS_ON_BACKRANK:"Ein Bauer kann nicht auf der ersten oder letzten Reihe stehen."},opponent:"Stärke",fullStrength:"volle Stärke",atOnce:"Azimuth antwortet sofort",rating:"Wertungszahl",youPlay:"Sie spielen",random:"eine zufällige Seite",time:"Bedenkzeit",otherTime:"eine andere Zeit",minutes:"Minuten",increment:"Sekunden je Zug",noClock:"ohne Uhr, 1 s je Zug",clocks:[["60+0","1 Minute"],["180+2","3 Minuten + 2 s"],["300+3","5 Minuten + 3 s"],["600+5","10 Minuten + 5 s"],["1800+20","30 Minuten + 20 s"]],fromHere:"Von der Stellung auf dem Brett aus beginnen",newGame:"Neue Partie",begin:"Beginnen",discard:"Eine Partie läuft. Eine andere beginnen?",showEvaluation:"Die Bewertung während der Partie zeigen",takeback:"Zurücknehmen",hint:"Tipp",resign:"Aufgeben",resignNow:"Die Partie aufgeben?",draw:"Remis anbieten",drawAccepted:"Azimuth nimmt das Remis an.",drawDeclined:"Azimuth lehnt das Remis ab.",drawEarly:"Azimuth lehnt ab: Vor dem 10. Zug nimmt es kein Remis an.",analyseGame:"Diese Partie analysieren",thinking:"Azimuth denkt nach …",yourMove:"Sie sind am Zug.",hintIs:i=>`Tipp: ${i}`,you:"Sie",azimuth:i=>i===null?"Azimuth":`Azimuth ${i}`,results:{checkmate:i=>`Schachmatt: ${i} gewinnt.`,stalemate:"Remis durch Patt.",insufficient:"Remis: Keine Seite kann mattsetzen.",repetition:"Remis durch Stellungswiederholung.",fifty:"Remis nach der 50-Züge-Regel.",agreement:"Remis durch Vereinbarung.",resigns:i=>`${i} gibt auf.`,time:i=>`${i} verliert durch Zeitüberschreitung.`,timeDraw:"Remis: Die Zeit ist abgelaufen, und die andere Seite kann nicht mattsetzen."},whyIntro:"Spielen Sie einen Zug auf dem Brett, um zu fragen: Warum nicht dieser Zug?",whyColumns:["Zug","Latenter Wert","Rang","Kosinus","Erwarteter Wert","Rang","Halb­züge"],whyCaption:"Jeder legale Zug, auf den ersten Blick und nach der Suche; wählen Sie einen, um nach ihm zu fragen. Beide Werte sind die der Seite am Zug. Der latente Wert ist der des Kosinus, auf den ersten Blick. Der erwartete Wert, Gewinne und halbe Remis, ist der der Suche; ≤ und ≥ bezeichnen Schranken.",dropped:"verworfen",searching:"Die Suche läuft …",researchers:"Für die Forschung",beam:"Der Baum der Strahlsuche",beamIntro:"Die Suche des Aufsatzes behält in jeder Stellung drei Züge. Der Baum zeigt für die ziehende Seite den latenten Wert auf den ersten Blick → nach der Suche.",beamColumns:["Halbzug","Behalten","Verworfen"],beamDepth:(i,e)=>`nach Halbzug ${i} von ${e}`,beamDropped:(i,e)=>`verworfen: ${i}${e?` und ${e} ${e===1?"weiterer":"weitere"}`:""}`,spaceIntro:i=>`Von links nach rechts: der Kosinus mit der Vorteilsachse, für Weiß; aus ihm folgt der Wert. Nach oben und unten: die Richtung, außer der des Kosinus, in der sich die Stellungen am meisten unterscheiden. Um den großen Punkt liegen die Stellungen nach jedem legalen Zug. ${i} die Karte.`,spaceWeights:{beam:"Die Gewichte der Strahlsuche zeichnen",user:"Ihre Gewichte zeichnen"},spaceWhere:i=>`Diese Stellung liegt dort, wo Weiß ${i} der Punkte erzielt.`,spaceNear:{alike:"Nächste Stellungen mit ähnlichem Material",any:"Nächste Stellungen, mit beliebigem Material"},spaceLabel:(i,e)=>`Karte des Raums. Die Stellung hat den Kosinus ${i}; ${e===1?"ein legaler Zug führt":`${e} legale Züge führen`} zu den Punkten um sie herum.`,spaceWhite:i=>`Weiß erzielt ${i} der Punkte`,spaceAxes:{lost:"verloren für Weiß",won:"gewonnen für Weiß",even:"ausgeglichen",decided:"entschieden"},playGame:"Partie abspielen",pauseGame:"Pause",reportStart:"Die ganze Partie analysieren",reportTime:"Zeit für jede Stellung",reportTimes:[[50,"50 ms"],[100,"100 ms"],[500,"0,5 s"],[2e3,"2 s"]],reportNone:"Laden oder spielen Sie zuerst eine Partie.",reportProgress:(i,e)=>`${i} von ${Za(e,"Stellung","Stellungen")}`,accuracy:"Genauig­keit",centipawns:"Ø Verlust (cp)",whose:"Fehler von",both:"beide Seiten",whyThis:"Warum?",judgements:{inaccuracy:["Ungenauigkeit","Ungenauig­keiten"],mistake:["Fehler","Fehler"],blunder:["Patzer","Patzer"]},toNext:"Fehler ›",toPrevious:"‹ Fehler",nextMistake:"Nächster Fehler",previousMistake:"Voriger Fehler",retry:"Noch einmal",retryNow:"Finden Sie einen besseren Zug.",retryGood:i=>`${i} ist gut.`,retryUnknown:(i,e)=>`${i} ist nicht unter den ${e} besten Zügen. Versuchen Sie einen anderen Zug.`,retryBad:(i,e)=>`${i} verschenkt ${e} Punkte. Versuchen Sie einen anderen Zug.`,showBetter:"Lösung zeigen",better:"Besser:",best:"Am besten:",noMistake:"Es gibt keinen weiteren Fehler.",clock:i=>`Uhr ${i}`,inFile:i=>`Bewertung in der Datei ${i}`,gives:(i,e,t)=>`Verschenkt ${i} Punkte des erwarteten Werts; auf den ersten Blick Rang ${e} von ${t}.`,graph:"Der erwartete Wert von Weiß, Stellung für Stellung",keys:[["← → oder k j","voriger und nächster Zug"],["↑ ↓, Pos1 Ende oder 0 $","erste und letzte Stellung"],["Umschalt + ← →","vorige und nächste Verzweigung; in einer Variante zurück zu ihrem Anfang"],["f","Brett drehen"],["a","Pfeile zeigen und verbergen"],["n, p","im Bericht: nächster und voriger Fehler"],["Eingabe","einen Zug eintippen"],["?","diese Hilfe"]],tabKeys:(i,e)=>[`1 … ${i}`,e],engineKeys:[["l","Analyse starten und anhalten"],["Leertaste","den besten Zug spielen"],["x","die Drohung zeigen"],["Strg + V","die Partie oder die Stellung in der Zwischenablage laden"]]};var ji="azimuth.",Ja=`${ji}begun`;function j(i,e,t=!1){let[a,n]=[ji+i,JSON.stringify(e)];try{if(Qa(),sessionStorage.getItem(a)===n)return;for(let r of t?[sessionStorage]:[sessionStorage,localStorage])r.setItem(a,n)}catch{}}function W(i){try{Qa();let e=sessionStorage.getItem(ji+i);return e===null?null:JSON.parse(e)}catch{return null}}function Qa(){if(sessionStorage.getItem(Ja)===null){sessionStorage.setItem(Ja,"");for(let[i,e]of Object.entries(localStorage))i.startsWith(ji)&&sessionStorage.setItem(i,e)}}var Nt={language:"English",number:(i,e)=>i.toFixed(e),percent:i=>`${i}%`,tabs:{play:"Play",analyse:"Analyse",why:"Why",space:"Space",report:"Report"},side:{white:"White",black:"Black"},pieces:{pawn:"pawn",knight:"knight",bishop:"bishop",rook:"rook",queen:"queen",king:"king"},toMove:i=>`${i} to move.`,described:(i,e)=>`White: ${i}. Black: ${e}.`,connection:{connecting:"Connecting to the engine …",loading:"Loading …",open:"Connected",lost:"The engine does not answer. Trying again …",renewed:"azimuth serve was started again. Open the new address that it prints."},queued:i=>i===1?"Waiting for the engine: this page is next.":`Waiting for the engine: place ${i} in the queue.`,ended:{done:"",stopped:"",turn:"Stopped, so that another page can search.",limit:"Stopped after ten minutes."},failed:i=>`The engine reports: ${i}`,start:"Start",flip:"Flip the board",first:"First position",previous:"Previous move",next:"Next move",last:"Last position",help:"Keys",close:"Close",moveInput:"Move (Nf3 or g1f3)",noSuchMove:i=>`“${i}” is no legal move here.`,promotion:"Promote the pawn to",moves:"Moves",noMoves:"No moves yet.",variation:"Variation",deleteFrom:"Delete from here",promoteLine:"Make main line",anew:"Starting position",copied:"Copied.",engineOn:"Analyse",engineOff:"Stop",lines:"Lines",threads:"Threads",hash:"Hash (MB)",depth:(i,e)=>`depth ${i}/${e}`,nodes:(i,e)=>`${i} nodes, ${e}/s`,threat:"Threat: the best move of the other side, if it were to move now.",noThreat:"In check there is no threat to show.",gameOver:"The game is over.",languageChoice:"Language",switches:{theme:"Dark colours",squares:"Blue board",sound:"Sound"},cancel:"Cancel",evaluation:(i,e)=>`Evaluation ${i}. ${e}`,wdl:(i,e,t)=>`White wins ${i}%, draws ${e}%, loses ${t}%`,playLine:i=>`Play ${i}`,load:"Load a position or a game",loadHint:"Paste FEN, EPD or PGN here or anywhere on the page.",loadButton:"Load",openFile:"Open a file …",game:"Game",unread:i=>`This cannot be read: ${i}.`,cut:i=>`The game was read up to a fault: ${i}.`,variationCut:i=>`A variation was read up to a fault: ${i}.`,rightsDropped:i=>`The castling rights ${i} of the FEN are dropped: their king or rook is missing.`,noPosition:i=>`the page cannot show the position “${i}”`,onlyFirst:i=>`Only the first ${i} games or positions were read.`,noAnswer:"the engine does not answer",noGame:"There is no game in this text.",copyFen:"Copy FEN",copyPgn:"Copy PGN",savePgn:"Save PGN",saveJson:"Save JSON",fileTooLarge:"The file is larger than 5 MB.",explorer:(i,e)=>i<e?`Opening explorer: ${i} of ${e} games`:`Opening explorer: ${e} ${e===1?"game":"games"}`,explorerColumns:["Move","Games","Results"],book:"Opening book",bookColumns:["Move","Played"],explorerNone:"No game goes on from this position.",explorerResults:(i,e,t)=>`White wins ${i}, draws ${e}, Black wins ${t}`,tables:"Tablebase",tablesHint:"DTZ: half-moves to the next capture or pawn move of the winning side",tablesColumns:["Move","Result","Distance"],dtz:i=>`DTZ ${i}`,outcomes:{win:"Win",cursed:"Win prevented by the 50-move rule",draw:"Draw",blessed:"Loss prevented by the 50-move rule",loss:"Loss"},kinds:{checkmate:"Checkmate",stalemate:"Stalemate",insufficient:"Neither side can mate",capture:"Capture",pawn:"Pawn move"},setUp:"Set up a position",fen:"FEN",analysePosition:"Analyse this position",palette:"Pieces",tools:{hand:"Move pieces",eraser:"Erase pieces"},toolSigns:{hand:"↖︎",eraser:"✕"},piece:(i,e)=>`${i} ${e}`,emptySquare:"empty",clearBoard:"Clear",sideToMove:"Side to move",castling:"Castling",right:(i,e)=>`${i} ${e==="h"?"O-O":"O-O-O"}`,editorBoard:"Board to set up a position. Arrow keys move the cursor, Enter uses the chosen tool, K Q R B N P put a white piece, k q r b n p a black one, Delete empties the square.",editorKeys:"Drag pieces, or choose one and tap squares. With the keyboard on the board: arrow keys, K Q R B N P for White, k q r b n p for Black, Delete.",noFen:"This is no FEN.",fenFaults:{ERR_FEN:"A FEN has at most six fields.",ERR_BOARD:"The first field of the FEN needs eight ranks of eight squares each.",ERR_TURN:"The side to move in the FEN is w or b.",ERR_CASTLING:"The castling rights in the FEN are - or some of KQkq.",ERR_EP_SQUARE:"The en passant square in the FEN is - or a square.",ERR_HALFMOVES:"The halfmove clock in the FEN is no number from 0 to 9999.",ERR_FULLMOVES:"The move number in the FEN is no number from 0 to 9999."},illegal:"This position is illegal.",setupFaults:{ERR_EMPTY:"The board is empty.",ERR_KINGS:"Each side needs exactly one king.",ERR_OPPOSITE_CHECK:"The side that is not to move is in check.",ERR_PAWNS_ON_BACKRANK:"A pawn cannot stand on the first or the last rank."},opponent:"Strength",fullStrength:"full strength",atOnce:"Azimuth answers at once",rating:"Rating",youPlay:"You play",random:"a random side",time:"Time",otherTime:"another time",minutes:"Minutes",increment:"Seconds a move",noClock:"no clock, 1 s a move",clocks:[["60+0","1 minute"],["180+2","3 minutes + 2 s"],["300+3","5 minutes + 3 s"],["600+5","10 minutes + 5 s"],["1800+20","30 minutes + 20 s"]],fromHere:"Start from the position on the board",newGame:"New game",begin:"Begin",discard:"A game is going on. Begin another one?",showEvaluation:"Show the evaluation during the game",takeback:"Take back",hint:"Hint",resign:"Resign",resignNow:"Resign the game?",draw:"Offer a draw",drawAccepted:"Azimuth accepts the draw.",drawDeclined:"Azimuth declines the draw.",drawEarly:"Azimuth declines: it agrees to no draw before move 10.",analyseGame:"Analyse this game",thinking:"Azimuth thinks …",yourMove:"Your move.",hintIs:i=>`Hint: ${i}`,you:"You",azimuth:i=>i===null?"Azimuth":`Azimuth ${i}`,results:{checkmate:i=>`Checkmate: ${i} wins.`,stalemate:"Draw by stalemate.",insufficient:"Draw: neither side can mate.",repetition:"Draw by repetition.",fifty:"Draw by the 50-move rule.",agreement:"Draw by agreement.",resigns:i=>`${i} resigns.`,time:i=>`${i} loses on time.`,timeDraw:"Draw: the time is over, and the other side cannot mate."},whyIntro:"Play a move on the board to ask: why not this move?",whyColumns:["Move","Latent score","Rank","Cosine","Expected score","Rank","Plies"],whyCaption:"Every legal move, at first sight and after the search; choose one to ask about it. Both scores are those of the side to move. The latent score is that of the cosine, at first sight. The expected score, wins and half the draws, is that of the search; ≤ and ≥ mark bounds.",dropped:"dropped",searching:"The search goes on …",researchers:"For researchers",beam:"The beam’s tree",beamIntro:"The paper’s search keeps three moves at each position. For the side that moves, the tree shows its latent score at first sight → after the search.",beamColumns:["Ply","Kept","Dropped"],beamDepth:(i,e)=>`after ply ${i} of ${e}`,beamDropped:(i,e)=>`dropped: ${i}${e?` and ${e} more`:""}`,spaceIntro:i=>`From left to right: the cosine with the advantage axis, for White; the score follows from it. Up and down: the direction, apart from that of the cosine, in which positions differ most. Around the large point are the positions after each legal move. ${i} the map.`,spaceWeights:{beam:"The beam’s weights draw",user:"Your weights draw"},spaceWhere:i=>`This position lies where White scores ${i}.`,spaceNear:{alike:"Nearest positions of like material",any:"Nearest positions, of any material"},spaceLabel:(i,e)=>`Map of the space. The position has the cosine ${i}; ${e===1?"one legal move leads":`${e} legal moves lead`} to the points around it.`,spaceWhite:i=>`White scores ${i}`,spaceAxes:{lost:"lost for White",won:"won for White",even:"even",decided:"decided"},playGame:"Play the game",pauseGame:"Pause",reportStart:"Analyse the whole game",reportTime:"Time for each position",reportTimes:[[50,"50 ms"],[100,"100 ms"],[500,"0.5 s"],[2e3,"2 s"]],reportNone:"Load or play a game first.",reportProgress:(i,e)=>`${i} of ${e} ${e===1?"position":"positions"}`,accuracy:"Accuracy",centipawns:"Average cp loss",whose:"Mistakes of",both:"both sides",whyThis:"Why?",judgements:{inaccuracy:["inaccuracy","Inaccuracies"],mistake:["mistake","Mistakes"],blunder:["blunder","Blunders"]},toNext:"Mistake ›",toPrevious:"‹ Mistake",nextMistake:"Next mistake",previousMistake:"Previous mistake",retry:"Try again",retryNow:"Find a better move.",retryGood:i=>`${i} is good.`,retryUnknown:(i,e)=>`${i} is not among the best ${e} moves. Try another move.`,retryBad:(i,e)=>`${i} gives away ${e} points. Try another move.`,showBetter:"Show it",better:"Better:",best:"Best:",noMistake:"There is no further mistake.",clock:i=>`Clock ${i}`,inFile:i=>`evaluation in the file ${i}`,gives:(i,e,t)=>`Gives away ${i} points of expected score; at first sight it ranks ${e} of ${t}.`,graph:"White’s expected score, position by position",keys:[["← → or k j","previous and next move"],["↑ ↓, Home End or 0 $","first and last position"],["Shift + ← →","previous and next fork; in a variation, back to where it begins"],["f","flip the board"],["a","show and hide the arrows"],["n, p","in the report: next and previous mistake"],["Enter","type a move"],["?","this help"]],tabKeys:(i,e)=>[`1 … ${i}`,e],engineKeys:[["l","start and stop the analysis"],["Space","play the best move"],["x","show the threat"],["Ctrl + V","load the game or the position in the clipboard"]]};var Ye={en:Nt,de:Ua};function To(i,e){return[i??"",...e].map(a=>a.toLowerCase().split("-")[0]??"").find(a=>Object.hasOwn(Ye,a))??"en"}var Ot=To(W("language"),typeof document>"u"?[]:navigator.languages),l=Ye[Ot]??Nt;var Ya=[250,500,1e3,2e3,5e3],zt=class i{socket=null;attempts=0;open(e,t){let a=new URL("socket",location.href);a.protocol="ws:",e(this.attempts===0?"connecting":"lost");let n=new WebSocket(a);this.socket=n,n.addEventListener("open",()=>{this.attempts=0,e("open")}),n.addEventListener("message",r=>t(JSON.parse(String(r.data)))),n.addEventListener("close",()=>{this.closed(e,t)})}async closed(e,t){if(e("lost"),this.attempts>0&&await Po()){e("renewed");return}let a=Ya[Math.min(this.attempts,Ya.length-1)];this.attempts+=1,setTimeout(()=>this.open(e,t),a)}isOpen(){return this.socket?.readyState===WebSocket.OPEN}send(e){this.socket?.send(JSON.stringify(e))}another(){return new i}},Ci=new zt;async function Po(){try{return(await fetch("./",{method:"HEAD",cache:"no-store"})).status===403}catch{return!1}}async function Xa(i,e){let t=await fetch(`games/${encodeURIComponent(e)}`,{method:"POST",body:i}).catch(()=>{throw new Error(l.noAnswer)});if(!t.ok)throw new Error((await t.text()).trim());return await t.json()}var Ii=class{unwrap(e,t){let a=this._chain(n=>A.ok(e?e(n):n),n=>t?A.ok(t(n)):A.err(n));if(a.isErr)throw a.error;return a.value}map(e,t){return this._chain(a=>A.ok(e(a)),a=>A.err(t?t(a):a))}chain(e,t){return this._chain(e,t??(a=>A.err(a)))}},Ft=class extends Ii{constructor(e){super(),this.value=e,this.isOk=!0,this.isErr=!1}_chain(e,t){return e(this.value)}},Wt=class extends Ii{constructor(e){super(),this.error=e,this.isOk=!1,this.isErr=!0}_chain(e,t){return t(this.error)}},A;(function(i){function e(n){return new Ft(n)}i.ok=e;function t(n){return new Wt(n||new Error)}i.err=t;function a(n){if(Array.isArray(n)){let s=[];for(let c=0;c<n.length;c++){let h=n[c];if(h.isErr)return h;s.push(h.value)}return i.ok(s)}let r={},o=Object.keys(n);for(let s=0;s<o.length;s++){let c=n[o[s]];if(c.isErr)return c;r[o[s]]=c.value}return i.ok(r)}i.all=a})(A||(A={}));var $a=i=>(i=i-(i>>>1&1431655765),i=(i&858993459)+(i>>>2&858993459),Math.imul(i+(i>>>4)&252645135,16843009)>>24),Ht=i=>(i=i>>>8&16711935|(i&16711935)<<8,i>>>16&65535|(i&65535)<<16),en=i=>(i=i>>>1&1431655765|(i&1431655765)<<1,i=i>>>2&858993459|(i&858993459)<<2,i=i>>>4&252645135|(i&252645135)<<4,Ht(i)),p=class i{constructor(e,t){this.lo=e|0,this.hi=t|0}static fromSquare(e){return e>=32?new i(0,1<<e-32):new i(1<<e,0)}static fromRank(e){return new i(255,0).shl64(8*e)}static fromFile(e){return new i(16843009<<e,16843009<<e)}static empty(){return new i(0,0)}static full(){return new i(4294967295,4294967295)}static corners(){return new i(129,2164260864)}static center(){return new i(402653184,24)}static backranks(){return new i(255,4278190080)}static backrank(e){return e==="white"?new i(255,0):new i(0,4278190080)}static lightSquares(){return new i(1437226410,1437226410)}static darkSquares(){return new i(2857740885,2857740885)}complement(){return new i(~this.lo,~this.hi)}xor(e){return new i(this.lo^e.lo,this.hi^e.hi)}union(e){return new i(this.lo|e.lo,this.hi|e.hi)}intersect(e){return new i(this.lo&e.lo,this.hi&e.hi)}diff(e){return new i(this.lo&~e.lo,this.hi&~e.hi)}intersects(e){return this.intersect(e).nonEmpty()}isDisjoint(e){return this.intersect(e).isEmpty()}supersetOf(e){return e.diff(this).isEmpty()}subsetOf(e){return this.diff(e).isEmpty()}shr64(e){return e>=64?i.empty():e>=32?new i(this.hi>>>e-32,0):e>0?new i(this.lo>>>e^this.hi<<32-e,this.hi>>>e):this}shl64(e){return e>=64?i.empty():e>=32?new i(0,this.lo<<e-32):e>0?new i(this.lo<<e,this.hi<<e^this.lo>>>32-e):this}bswap64(){return new i(Ht(this.hi),Ht(this.lo))}rbit64(){return new i(en(this.hi),en(this.lo))}minus64(e){let t=this.lo-e.lo,a=(t&e.lo&1)+(e.lo>>>1)+(t>>>1)>>>31;return new i(t,this.hi-(e.hi+a))}equals(e){return this.lo===e.lo&&this.hi===e.hi}size(){return $a(this.lo)+$a(this.hi)}isEmpty(){return this.lo===0&&this.hi===0}nonEmpty(){return this.lo!==0||this.hi!==0}has(e){return(e>=32?this.hi&1<<e-32:this.lo&1<<e)!==0}set(e,t){return t?this.with(e):this.without(e)}with(e){return e>=32?new i(this.lo,this.hi|1<<e-32):new i(this.lo|1<<e,this.hi)}without(e){return e>=32?new i(this.lo,this.hi&~(1<<e-32)):new i(this.lo&~(1<<e),this.hi)}toggle(e){return e>=32?new i(this.lo,this.hi^1<<e-32):new i(this.lo^1<<e,this.hi)}last(){if(this.hi!==0)return 63-Math.clz32(this.hi);if(this.lo!==0)return 31-Math.clz32(this.lo)}first(){if(this.lo!==0)return 31-Math.clz32(this.lo&-this.lo);if(this.hi!==0)return 63-Math.clz32(this.hi&-this.hi)}withoutFirst(){return this.lo!==0?new i(this.lo&this.lo-1,this.hi):new i(0,this.hi&this.hi-1)}moreThanOne(){return this.hi!==0&&this.lo!==0||(this.lo&this.lo-1)!==0||(this.hi&this.hi-1)!==0}singleSquare(){return this.moreThanOne()?void 0:this.last()}*[Symbol.iterator](){let e=this.lo,t=this.hi;for(;e!==0;){let a=31-Math.clz32(e&-e);e^=1<<a,yield a}for(;t!==0;){let a=31-Math.clz32(t&-t);t^=1<<a,yield 32+a}}*reversed(){let e=this.lo,t=this.hi;for(;t!==0;){let a=31-Math.clz32(t);t^=1<<a,yield 32+a}for(;e!==0;){let a=31-Math.clz32(e);e^=1<<a,yield a}}};var He=["a","b","c","d","e","f","g","h"],qi=["1","2","3","4","5","6","7","8"];var J=["white","black"],R=["pawn","knight","bishop","rook","queen","king"],tn=["a","h"],De=i=>"role"in i;var Xe=class i{constructor(){}static default(){let e=new i;return e.reset(),e}reset(){this.occupied=new p(65535,4294901760),this.promoted=p.empty(),this.white=new p(65535,0),this.black=new p(0,4294901760),this.pawn=new p(65280,16711680),this.knight=new p(66,1107296256),this.bishop=new p(36,603979776),this.rook=new p(129,2164260864),this.queen=new p(8,134217728),this.king=new p(16,268435456)}static empty(){let e=new i;return e.clear(),e}clear(){this.occupied=p.empty(),this.promoted=p.empty();for(let e of J)this[e]=p.empty();for(let e of R)this[e]=p.empty()}clone(){let e=new i;e.occupied=this.occupied,e.promoted=this.promoted;for(let t of J)e[t]=this[t];for(let t of R)e[t]=this[t];return e}getColor(e){if(this.white.has(e))return"white";if(this.black.has(e))return"black"}getRole(e){for(let t of R)if(this[t].has(e))return t}get(e){let t=this.getColor(e);if(!t)return;let a=this.getRole(e),n=this.promoted.has(e);return{color:t,role:a,promoted:n}}take(e){let t=this.get(e);return t&&(this.occupied=this.occupied.without(e),this[t.color]=this[t.color].without(e),this[t.role]=this[t.role].without(e),t.promoted&&(this.promoted=this.promoted.without(e))),t}set(e,t){let a=this.take(e);return this.occupied=this.occupied.with(e),this[t.color]=this[t.color].with(e),this[t.role]=this[t.role].with(e),t.promoted&&(this.promoted=this.promoted.with(e)),a}has(e){return this.occupied.has(e)}*[Symbol.iterator](){for(let e of this.occupied)yield[e,this.get(e)]}pieces(e,t){return this[e].intersect(this[t])}rooksAndQueens(){return this.rook.union(this.queen)}bishopsAndQueens(){return this.bishop.union(this.queen)}steppers(){return this.knight.union(this.pawn).union(this.king)}sliders(){return this.bishop.union(this.rook).union(this.queen)}kingOf(e){return this.pieces(e,"king").singleSquare()}};var $e=class i{constructor(){}static empty(){let e=new i;for(let t of R)e[t]=0;return e}static fromBoard(e,t){let a=new i;for(let n of R)a[n]=e.pieces(t,n).size();return a}clone(){let e=new i;for(let t of R)e[t]=this[t];return e}equals(e){return R.every(t=>this[t]===e[t])}add(e){let t=new i;for(let a of R)t[a]=this[a]+e[a];return t}subtract(e){let t=new i;for(let a of R)t[a]=this[a]-e[a];return t}nonEmpty(){return R.some(e=>this[e]>0)}isEmpty(){return!this.nonEmpty()}hasPawns(){return this.pawn>0}hasNonPawns(){return this.knight>0||this.bishop>0||this.rook>0||this.queen>0||this.king>0}size(){return this.pawn+this.knight+this.bishop+this.rook+this.queen+this.king}},_i=class i{constructor(e,t){this.white=e,this.black=t}static empty(){return new i($e.empty(),$e.empty())}static fromBoard(e){return new i($e.fromBoard(e,"white"),$e.fromBoard(e,"black"))}clone(){return new i(this.white.clone(),this.black.clone())}equals(e){return this.white.equals(e.white)&&this.black.equals(e.black)}add(e){return new i(this.white.add(e.white),this.black.add(e.black))}subtract(e){return new i(this.white.subtract(e.white),this.black.subtract(e.black))}count(e){return this.white[e]+this.black[e]}size(){return this.white.size()+this.black.size()}isEmpty(){return this.white.isEmpty()&&this.black.isEmpty()}nonEmpty(){return!this.isEmpty()}hasPawns(){return this.white.hasPawns()||this.black.hasPawns()}hasNonPawns(){return this.white.hasNonPawns()||this.black.hasNonPawns()}},ki=class i{constructor(e,t){this.white=e,this.black=t}static default(){return new i(3,3)}clone(){return new i(this.white,this.black)}equals(e){return this.white===e.white&&this.black===e.black}};var C=i=>i!==void 0,y=i=>i==="white"?"black":"white",Y=i=>i>>3,P=i=>i&7,ei=(i,e)=>0<=i&&i<8&&0<=e&&e<8?i+8*e:void 0,pe=i=>{switch(i){case"pawn":return"p";case"knight":return"n";case"bishop":return"b";case"rook":return"r";case"queen":return"q";case"king":return"k"}};function ce(i){switch(i.toLowerCase()){case"p":return"pawn";case"n":return"knight";case"b":return"bishop";case"r":return"rook";case"q":return"queen";case"k":return"king";default:return}}function Q(i){if(i.length===2)return ei(i.charCodeAt(0)-97,i.charCodeAt(1)-49)}var T=i=>He[P(i)]+qi[Y(i)],fe=i=>{if(i[1]==="@"&&i.length===4){let e=ce(i[0]),t=Q(i.slice(2));if(e&&C(t))return{role:e,to:t}}else if(i.length===4||i.length===5){let e=Q(i.slice(0,2)),t=Q(i.slice(2,4)),a;if(i.length===5&&(a=ce(i[4]),!a))return;if(C(e)&&C(t))return{from:e,to:t,promotion:a}}};var we=i=>De(i)?`${pe(i.role).toUpperCase()}@${T(i.to)}`:T(i.from)+T(i.to)+(i.promotion?pe(i.promotion):""),ii=(i,e)=>i==="white"?e==="a"?2:6:e==="a"?58:62,Zi=(i,e)=>i==="white"?e==="a"?3:5:e==="a"?59:61;var Lo="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",Ro=Lo+" w KQkq -",ge=Ro+" 0 1",Ko="8/8/8/8/8/8/8/8",No=Ko+" w - -",on=No+" 0 1",K;(function(i){i.Fen="ERR_FEN",i.Board="ERR_BOARD",i.Pockets="ERR_POCKETS",i.Turn="ERR_TURN",i.Castling="ERR_CASTLING",i.EpSquare="ERR_EP_SQUARE",i.RemainingChecks="ERR_REMAINING_CHECKS",i.Halfmoves="ERR_HALFMOVES",i.Fullmoves="ERR_FULLMOVES"})(K||(K={}));var N=class extends Error{},Oo=(i,e,t)=>{let a=i.indexOf(e);for(;t-- >0&&a!==-1;)a=i.indexOf(e,a+e.length);return a},ti=i=>/^\d{1,4}$/.test(i)?parseInt(i,10):void 0,sn=i=>{let e=ce(i);return e&&{role:e,color:i.toLowerCase()===i?"black":"white"}},Ai=i=>{let e=Xe.empty(),t=7,a=0;for(let n=0;n<i.length;n++){let r=i[n];if(r==="/"&&a===8)a=0,t--;else{let o=parseInt(r,10);if(o>0)a+=o;else{if(a>=8||t<0)return A.err(new N(K.Board));let s=a+t*8,c=sn(r);if(!c)return A.err(new N(K.Board));i[n+1]==="~"&&(c.promoted=!0,n++),e.set(s,c),a++}}}return t!==0||a!==8?A.err(new N(K.Board)):A.ok(e)},an=i=>{if(i.length>64)return A.err(new N(K.Pockets));let e=_i.empty();for(let t of i){let a=sn(t);if(!a)return A.err(new N(K.Pockets));e[a.color][a.role]++}return A.ok(e)},zo=(i,e)=>{let t=p.empty();if(e==="-")return A.ok(t);for(let a of e){let n=a.toLowerCase(),r=a===n?"black":"white",o=r==="white"?0:7;if("a"<=n&&n<="h")t=t.with(ei(n.charCodeAt(0)-97,o));else if(n==="k"||n==="q"){let s=i[r].intersect(p.backrank(r)).intersect(i.rook.union(i.king)),c=n==="k"?s.last():s.first();t=t.with(C(c)&&i.rook.has(c)?c:ei(n==="k"?7:0,o))}else return A.err(new N(K.Castling))}return J.some(a=>p.backrank(a).intersect(t).size()>2)?A.err(new N(K.Castling)):A.ok(t)},nn=i=>{let e=i.split("+");if(e.length===3&&e[0]===""){let t=ti(e[1]),a=ti(e[2]);return!C(t)||t>3||!C(a)||a>3?A.err(new N(K.RemainingChecks)):A.ok(new ki(3-t,3-a))}else if(e.length===2){let t=ti(e[0]),a=ti(e[1]);return!C(t)||t>3||!C(a)||a>3?A.err(new N(K.RemainingChecks)):A.ok(new ki(t,a))}else return A.err(new N(K.RemainingChecks))},ai=i=>{let e=i.split(/[\s_]+/),t=e.shift(),a,n=A.ok(void 0);if(t.endsWith("]")){let s=t.indexOf("[");if(s===-1)return A.err(new N(K.Fen));a=Ai(t.slice(0,s)),n=an(t.slice(s+1,-1))}else{let s=Oo(t,"/",7);s===-1?a=Ai(t):(a=Ai(t.slice(0,s)),n=an(t.slice(s+1)))}let r,o=e.shift();if(!C(o)||o==="w")r="white";else if(o==="b")r="black";else return A.err(new N(K.Turn));return a.chain(s=>{let c=e.shift(),h=C(c)?zo(s,c):A.ok(p.empty()),u=e.shift(),m;if(C(u)&&u!=="-"&&(m=Q(u),!C(m)))return A.err(new N(K.EpSquare));let f=e.shift(),g;C(f)&&f.includes("+")&&(g=nn(f),f=e.shift());let b=C(f)?ti(f):0;if(!C(b))return A.err(new N(K.Halfmoves));let B=e.shift(),G=C(B)?ti(B):1;if(!C(G))return A.err(new N(K.Fullmoves));let S=e.shift(),z=A.ok(void 0);if(C(S)){if(C(g))return A.err(new N(K.RemainingChecks));z=nn(S)}else C(g)&&(z=g);return e.length>0?A.err(new N(K.Fen)):n.chain(_=>h.chain(F=>z.map(x=>({board:s,pockets:_,turn:r,castlingRights:F,remainingChecks:x,epSquare:m,halfmoves:b,fullmoves:Math.max(1,G)}))))})};var Fo=i=>{let e=pe(i.role);return i.color==="white"&&(e=e.toUpperCase()),i.promoted&&(e+="~"),e},jt=i=>{let e="",t=0;for(let a=7;a>=0;a--)for(let n=0;n<8;n++){let r=n+a*8,o=i.get(r);o?(t>0&&(e+=t,t=0),e+=Fo(o)):t++,n===7&&(t>0&&(e+=t,t=0),a!==0&&(e+="/"))}return e},rn=i=>R.map(e=>pe(e).repeat(i[e])).join(""),Wo=i=>rn(i.white).toUpperCase()+rn(i.black),Ho=(i,e)=>{let t="";for(let a of J){let n=p.backrank(a),r=i.kingOf(a);C(r)&&!n.has(r)&&(r=void 0);let o=i.pieces(a,"rook").intersect(n);for(let s of e.intersect(n).reversed())if(s===o.first()&&C(r)&&s<r)t+=a==="white"?"Q":"q";else if(s===o.last()&&C(r)&&r<s)t+=a==="white"?"K":"k";else{let c=He[P(s)];t+=a==="white"?c.toUpperCase():c}}return t||"-"},jo=i=>`${i.white}+${i.black}`,ye=(i,e)=>[jt(i.board)+(i.pockets?`[${Wo(i.pockets)}]`:""),i.turn[0],Ho(i.board,i.castlingRights),C(i.epSquare)?T(i.epSquare):"-",...i.remainingChecks?[jo(i.remainingChecks)]:[],...e?.epd?[]:[Math.max(0,Math.min(i.halfmoves,9999)),Math.max(1,Math.min(i.fullmoves,9999))]].join(" ");function Io(i){let e=new URLSearchParams(i.replace(/^#/,"")),t=(o,s)=>{let c=e.get(o)??s;return/^\d{1,6}$/.test(c)?Number(c):null},[a,n]=[t("game","1"),t("ply","")],r=(e.get("line")??"").split(".").filter(o=>o!=="");return a===null||n===null?null:{game:Math.max(0,a-1),ply:n,line:r}}function qo({game:i,ply:e,line:t},a){let n=t.length?`&line=${t.join(".")}`:"";return a>1?`#game=${i+1}&ply=${e}${n}`:`#ply=${e}${n}`}function _o(i,{ply:e,line:t}){let a=i.mainLine(),n=a[Math.min(e,a.length-1)]??i;for(let r of t){let o=n.children.find(s=>s.uci===r);if(!o)break;n=o}return n}function Zo(i,e){let{ply:t}=i.onMainLine();return{game:e,ply:t,line:i.path().slice(t).map(a=>a.uci)}}var Ui=class{constructor(e,t){this.app=e;this.open=t;addEventListener("hashchange",()=>this.follow()),addEventListener("pagehide",()=>this.write())}app;open;timer=null;known=location.hash;follow(){this.known=location.hash;let e=Io(location.hash);if(!e)return;let{recording:t}=this.app;t&&t.shown!==e.game&&this.open(e.game),this.app.go(_o(this.app.root,e))}changed(){this.timer??=window.setTimeout(()=>this.write(),150)}write(){if(this.timer!==null&&clearTimeout(this.timer),this.timer=null,location.hash!==this.known)return;let{recording:e,current:t}=this.app,a=Zo(t,e?.shown??0),n=qo(a,e?.count??1),r=a.ply===0&&a.game===0&&!a.line.length;n===location.hash||r&&!location.hash||(history.replaceState(null,"",n),this.known=n)}};var Ji=(i,e)=>{let t=p.empty();for(let a of e){let n=i+a;0<=n&&n<64&&Math.abs(P(i)-P(n))<=2&&(t=t.with(n))}return t},Se=i=>{let e=[];for(let t=0;t<64;t++)e[t]=i(t);return e},Uo=Se(i=>Ji(i,[-9,-8,-7,-1,1,7,8,9])),Jo=Se(i=>Ji(i,[-17,-15,-10,-6,6,10,15,17])),Qo={white:Se(i=>Ji(i,[7,9])),black:Se(i=>Ji(i,[-7,-9]))},ni=i=>Uo[i],ri=i=>Jo[i],oi=(i,e)=>Qo[i][e],It=Se(i=>p.fromFile(P(i)).without(i)),qt=Se(i=>p.fromRank(Y(i)).without(i)),_t=Se(i=>{let e=new p(134480385,2151686160),t=8*(Y(i)-P(i));return(t>=0?e.shl64(t):e.shr64(-t)).without(i)}),Zt=Se(i=>{let e=new p(270549120,16909320),t=8*(Y(i)+P(i)-7);return(t>=0?e.shl64(t):e.shr64(-t)).without(i)}),Ut=(i,e,t)=>{let a=e.intersect(t),n=a.minus64(p.fromSquare(i)),r=a.bswap64().minus64(p.fromSquare(56^i));return n.xor(r.bswap64()).intersect(e)},Yo=(i,e)=>{let t=qt[i],a=t.intersect(e),n=a.minus64(p.fromSquare(i)),r=a.rbit64().minus64(p.fromSquare(63-i));return n.xor(r.rbit64()).intersect(t)},Be=(i,e)=>Ut(i,_t[i],e).xor(Ut(i,Zt[i],e)),Ge=(i,e)=>Ut(i,It[i],e).xor(Yo(i,e)),vi=(i,e)=>Be(i,e).xor(Ge(i,e)),Jt=(i,e,t)=>{switch(i.role){case"pawn":return oi(i.color,e);case"knight":return ri(e);case"bishop":return Be(e,t);case"rook":return Ge(e,t);case"queen":return vi(e,t);case"king":return ni(e)}},Qt=(i,e)=>{let t=p.fromSquare(e);return qt[i].intersects(t)?qt[i].with(i):Zt[i].intersects(t)?Zt[i].with(i):_t[i].intersects(t)?_t[i].with(i):It[i].intersects(t)?It[i].with(i):p.empty()},si=(i,e)=>Qt(i,e).intersect(p.full().shl64(i).xor(p.full().shl64(e))).withoutFirst();var Ee;(function(i){i.Empty="ERR_EMPTY",i.OppositeCheck="ERR_OPPOSITE_CHECK",i.PawnsOnBackrank="ERR_PAWNS_ON_BACKRANK",i.Kings="ERR_KINGS",i.Variant="ERR_VARIANT"})(Ee||(Ee={}));var Me=class extends Error{},Xo=(i,e,t,a)=>t[e].intersect(Ge(i,a).intersect(t.rooksAndQueens()).union(Be(i,a).intersect(t.bishopsAndQueens())).union(ri(i).intersect(t.knight)).union(ni(i).intersect(t.king)).union(oi(y(e),i).intersect(t.pawn))),Qi=class i{constructor(){}static default(){let e=new i;return e.castlingRights=p.corners(),e.rook={white:{a:0,h:7},black:{a:56,h:63}},e.path={white:{a:new p(14,0),h:new p(96,0)},black:{a:new p(0,234881024),h:new p(0,1610612736)}},e}static empty(){let e=new i;return e.castlingRights=p.empty(),e.rook={white:{a:void 0,h:void 0},black:{a:void 0,h:void 0}},e.path={white:{a:p.empty(),h:p.empty()},black:{a:p.empty(),h:p.empty()}},e}clone(){let e=new i;return e.castlingRights=this.castlingRights,e.rook={white:{a:this.rook.white.a,h:this.rook.white.h},black:{a:this.rook.black.a,h:this.rook.black.h}},e.path={white:{a:this.path.white.a,h:this.path.white.h},black:{a:this.path.black.a,h:this.path.black.h}},e}add(e,t,a,n){let r=ii(e,t),o=Zi(e,t);this.castlingRights=this.castlingRights.with(n),this.rook[e][t]=n,this.path[e][t]=si(n,o).with(o).union(si(a,r).with(r)).without(a).without(n)}static fromSetup(e){let t=i.empty(),a=e.castlingRights.intersect(e.board.rook);for(let n of J){let r=p.backrank(n),o=e.board.kingOf(n);if(!C(o)||!r.has(o))continue;let s=a.intersect(e.board[n]).intersect(r),c=s.first();C(c)&&c<o&&t.add(n,"a",o,c);let h=s.last();C(h)&&o<h&&t.add(n,"h",o,h)}return t}discardRook(e){if(this.castlingRights.has(e)){this.castlingRights=this.castlingRights.without(e);for(let t of J)for(let a of tn)this.rook[t][a]===e&&(this.rook[t][a]=void 0)}}discardColor(e){this.castlingRights=this.castlingRights.diff(p.backrank(e)),this.rook[e].a=void 0,this.rook[e].h=void 0}},Yt=class{constructor(e){this.rules=e}reset(){this.board=Xe.default(),this.pockets=void 0,this.turn="white",this.castles=Qi.default(),this.epSquare=void 0,this.remainingChecks=void 0,this.halfmoves=0,this.fullmoves=1}setupUnchecked(e){this.board=e.board.clone(),this.board.promoted=p.empty(),this.pockets=void 0,this.turn=e.turn,this.castles=Qi.fromSetup(e),this.epSquare=$o(this,e.epSquare),this.remainingChecks=void 0,this.halfmoves=e.halfmoves,this.fullmoves=e.fullmoves}kingAttackers(e,t,a){return Xo(e,t,this.board,a)}playCaptureAt(e,t){this.halfmoves=0,t.role==="rook"&&this.castles.discardRook(e),this.pockets&&this.pockets[y(t.color)][t.promoted?"pawn":t.role]++}ctx(){let e=this.isVariantEnd(),t=this.board.kingOf(this.turn);if(!C(t))return{king:t,blockers:p.empty(),checkers:p.empty(),variantEnd:e,mustCapture:!1};let a=Ge(t,p.empty()).intersect(this.board.rooksAndQueens()).union(Be(t,p.empty()).intersect(this.board.bishopsAndQueens())).intersect(this.board[y(this.turn)]),n=p.empty();for(let o of a){let s=si(t,o).intersect(this.board.occupied);s.moreThanOne()||(n=n.union(s))}let r=this.kingAttackers(t,y(this.turn),this.board.occupied);return{king:t,blockers:n,checkers:r,variantEnd:e,mustCapture:!1}}clone(){var e,t;let a=new this.constructor;return a.board=this.board.clone(),a.pockets=(e=this.pockets)===null||e===void 0?void 0:e.clone(),a.turn=this.turn,a.castles=this.castles.clone(),a.epSquare=this.epSquare,a.remainingChecks=(t=this.remainingChecks)===null||t===void 0?void 0:t.clone(),a.halfmoves=this.halfmoves,a.fullmoves=this.fullmoves,a}validate(){if(this.board.occupied.isEmpty())return A.err(new Me(Ee.Empty));if(this.board.king.size()!==2)return A.err(new Me(Ee.Kings));if(!C(this.board.kingOf(this.turn)))return A.err(new Me(Ee.Kings));let e=this.board.kingOf(y(this.turn));return C(e)?this.kingAttackers(e,this.turn,this.board.occupied).nonEmpty()?A.err(new Me(Ee.OppositeCheck)):p.backranks().intersects(this.board.pawn)?A.err(new Me(Ee.PawnsOnBackrank)):A.ok(void 0):A.err(new Me(Ee.Kings))}dropDests(e){return p.empty()}dests(e,t){if(t=t||this.ctx(),t.variantEnd)return p.empty();let a=this.board.get(e);if(!a||a.color!==this.turn)return p.empty();let n,r;if(a.role==="pawn"){n=oi(this.turn,e).intersect(this.board[y(this.turn)]);let o=this.turn==="white"?8:-8,s=e+o;if(0<=s&&s<64&&!this.board.occupied.has(s)){n=n.with(s);let c=this.turn==="white"?e<16:e>=48,h=s+o;c&&!this.board.occupied.has(h)&&(n=n.with(h))}C(this.epSquare)&&is(this,e,t)&&(r=p.fromSquare(this.epSquare))}else a.role==="bishop"?n=Be(e,this.board.occupied):a.role==="knight"?n=ri(e):a.role==="rook"?n=Ge(e,this.board.occupied):a.role==="queen"?n=vi(e,this.board.occupied):n=ni(e);if(n=n.diff(this.board[this.turn]),C(t.king)){if(a.role==="king"){let o=this.board.occupied.without(e);for(let s of n)this.kingAttackers(s,y(this.turn),o).nonEmpty()&&(n=n.without(s));return n.union(ln(this,"a",t)).union(ln(this,"h",t))}if(t.checkers.nonEmpty()){let o=t.checkers.singleSquare();if(!C(o))return p.empty();n=n.intersect(si(o,t.king).with(o))}t.blockers.has(e)&&(n=n.intersect(Qt(e,t.king)))}return r&&(n=n.union(r)),n}isVariantEnd(){return!1}variantOutcome(e){}hasInsufficientMaterial(e){return this.board[e].intersect(this.board.pawn.union(this.board.rooksAndQueens())).nonEmpty()?!1:this.board[e].intersects(this.board.knight)?this.board[e].size()<=2&&this.board[y(e)].diff(this.board.king).diff(this.board.queen).isEmpty():this.board[e].intersects(this.board.bishop)?(!this.board.bishop.intersects(p.darkSquares())||!this.board.bishop.intersects(p.lightSquares()))&&this.board.pawn.isEmpty()&&this.board.knight.isEmpty():!0}toSetup(){var e,t;return{board:this.board.clone(),pockets:(e=this.pockets)===null||e===void 0?void 0:e.clone(),turn:this.turn,castlingRights:this.castles.castlingRights,epSquare:es(this),remainingChecks:(t=this.remainingChecks)===null||t===void 0?void 0:t.clone(),halfmoves:Math.min(this.halfmoves,150),fullmoves:Math.min(Math.max(this.fullmoves,1),9999)}}isInsufficientMaterial(){return J.every(e=>this.hasInsufficientMaterial(e))}hasDests(e){e=e||this.ctx();for(let t of this.board[this.turn])if(this.dests(t,e).nonEmpty())return!0;return this.dropDests(e).nonEmpty()}isLegal(e,t){if(De(e))return!this.pockets||this.pockets[this.turn][e.role]<=0||e.role==="pawn"&&p.backranks().has(e.to)?!1:this.dropDests(t).has(e.to);{if(e.promotion==="pawn"||e.promotion==="king"&&this.rules!=="antichess"||!!e.promotion!==(this.board.pawn.has(e.from)&&p.backranks().has(e.to)))return!1;let a=this.dests(e.from,t);return a.has(e.to)||a.has(he(this,e).to)}}isCheck(){let e=this.board.kingOf(this.turn);return C(e)&&this.kingAttackers(e,y(this.turn),this.board.occupied).nonEmpty()}isEnd(e){return(e?e.variantEnd:this.isVariantEnd())?!0:this.isInsufficientMaterial()||!this.hasDests(e)}isCheckmate(e){return e=e||this.ctx(),!e.variantEnd&&e.checkers.nonEmpty()&&!this.hasDests(e)}isStalemate(e){return e=e||this.ctx(),!e.variantEnd&&e.checkers.isEmpty()&&!this.hasDests(e)}outcome(e){let t=this.variantOutcome(e);return t||(e=e||this.ctx(),this.isCheckmate(e)?{winner:y(this.turn)}:this.isInsufficientMaterial()||this.isStalemate(e)?{winner:void 0}:void 0)}allDests(e){e=e||this.ctx();let t=new Map;if(e.variantEnd)return t;for(let a of this.board[this.turn])t.set(a,this.dests(a,e));return t}play(e){let t=this.turn,a=this.epSquare,n=Yi(this,e);if(this.epSquare=void 0,this.halfmoves+=1,t==="black"&&(this.fullmoves+=1),this.turn=y(t),De(e))this.board.set(e.to,{role:e.role,color:t}),this.pockets&&this.pockets[t][e.role]--,e.role==="pawn"&&(this.halfmoves=0);else{let r=this.board.take(e.from);if(!r)return;let o;if(r.role==="pawn"){this.halfmoves=0,e.to===a&&(o=this.board.take(e.to+(t==="white"?-8:8)));let s=e.from-e.to;Math.abs(s)===16&&8<=e.from&&e.from<=55&&(this.epSquare=e.from+e.to>>1),e.promotion&&(r.role=e.promotion,r.promoted=!!this.pockets)}else if(r.role==="rook")this.castles.discardRook(e.from);else if(r.role==="king"){if(n){let s=this.castles.rook[t][n];if(C(s)){let c=this.board.take(s);this.board.set(ii(t,n),r),c&&this.board.set(Zi(t,n),c)}}this.castles.discardColor(t)}if(!n){let s=this.board.set(e.to,r)||o;s&&this.playCaptureAt(e.to,s)}}this.remainingChecks&&this.isCheck()&&(this.remainingChecks[t]=Math.max(this.remainingChecks[t]-1,0))}},li=class extends Yt{constructor(){super("chess")}static default(){let e=new this;return e.reset(),e}static fromSetup(e){let t=new this;return t.setupUnchecked(e),t.validate().map(a=>t)}clone(){return super.clone()}},$o=(i,e)=>{if(!C(e))return;let t=i.turn==="white"?5:2,a=i.turn==="white"?8:-8;if(Y(e)!==t||i.board.occupied.has(e+a))return;let n=e-a;if(!(!i.board.pawn.has(n)||!i.board[y(i.turn)].has(n)))return e},es=i=>{if(!C(i.epSquare))return;let e=i.ctx(),a=i.board.pieces(i.turn,"pawn").intersect(oi(y(i.turn),i.epSquare));for(let n of a)if(i.dests(n,e).has(i.epSquare))return i.epSquare},is=(i,e,t)=>{if(!C(i.epSquare)||!oi(i.turn,e).has(i.epSquare))return!1;if(!C(t.king))return!0;let a=i.turn==="white"?8:-8,n=i.epSquare-a;return i.kingAttackers(t.king,y(i.turn),i.board.occupied.toggle(e).toggle(n).with(i.epSquare)).without(n).isEmpty()},ln=(i,e,t)=>{if(!C(t.king)||t.checkers.nonEmpty())return p.empty();let a=i.castles.rook[i.turn][e];if(!C(a))return p.empty();if(i.castles.path[i.turn][e].intersects(i.board.occupied))return p.empty();let n=ii(i.turn,e),r=si(t.king,n),o=i.board.occupied.without(t.king);for(let h of r)if(i.kingAttackers(h,y(i.turn),o).nonEmpty())return p.empty();let s=Zi(i.turn,e),c=i.board.occupied.toggle(t.king).toggle(a).toggle(s);return i.kingAttackers(n,y(i.turn),c).nonEmpty()?p.empty():p.fromSquare(a)};var Yi=(i,e)=>{if(De(e))return;let t=e.to-e.from;if(!(Math.abs(t)!==2&&!i.board[i.turn].has(e.to))&&i.board.king.has(e.from))return t>0?"h":"a"},he=(i,e)=>{let t=Yi(i,e);if(!t)return e;let a=i.castles.rook[i.turn][t];return{from:e.from,to:C(a)?a:e.to}};var ts=(i,e)=>{let t="";if(De(e))e.role!=="pawn"&&(t=pe(e.role).toUpperCase()),t+="@"+T(e.to);else{let a=i.board.getRole(e.from);if(!a)return"--";if(a==="king"&&(i.board[i.turn].has(e.to)||Math.abs(e.to-e.from)===2))t=e.to>e.from?"O-O":"O-O-O";else{let n=i.board.occupied.has(e.to)||a==="pawn"&&P(e.from)!==P(e.to);if(a!=="pawn"){t=pe(a).toUpperCase();let r;if(a==="king"?r=ni(e.to).intersect(i.board.king):a==="queen"?r=vi(e.to,i.board.occupied).intersect(i.board.queen):a==="rook"?r=Ge(e.to,i.board.occupied).intersect(i.board.rook):a==="bishop"?r=Be(e.to,i.board.occupied).intersect(i.board.bishop):r=ri(e.to).intersect(i.board.knight),r=r.intersect(i.board[i.turn]).without(e.from),r.nonEmpty()){let o=i.ctx();for(let s of r)i.dests(s,o).has(e.to)||(r=r.without(s));if(r.nonEmpty()){let s=!1,c=r.intersects(p.fromRank(Y(e.from)));r.intersects(p.fromFile(P(e.from)))?s=!0:c=!0,c&&(t+=He[P(e.from)]),s&&(t+=qi[Y(e.from)])}}}else n&&(t=He[P(e.from)]);n&&(t+="x"),t+=T(e.to),e.promotion&&(t+="="+pe(e.promotion).toUpperCase())}}return t},as=(i,e)=>{var t;let a=ts(i,e);return i.play(e),!((t=i.outcome())===null||t===void 0)&&t.winner?a+"#":i.isCheck()?a+"+":a};var Di=(i,e)=>as(i.clone(),e),Xi=(i,e)=>{let t=i.ctx(),a=e.match(/^([NBRQK])?([a-h])?([1-8])?[-x]?([a-h][1-8])(?:=?([nbrqkNBRQK]))?[+#]?$/);if(!a){let u;if(e==="O-O"||e==="O-O+"||e==="O-O#"?u="h":(e==="O-O-O"||e==="O-O-O+"||e==="O-O-O#")&&(u="a"),u){let g=i.castles.rook[i.turn][u];return!C(t.king)||!C(g)||!i.dests(t.king,t).has(g)?void 0:{from:t.king,to:g}}let m=e.match(/^([pnbrqkPNBRQK])?@([a-h][1-8])[+#]?$/);if(!m)return;let f={role:m[1]?ce(m[1]):"pawn",to:Q(m[2])};return i.isLegal(f,t)?f:void 0}let n=a[1]?ce(a[1]):"pawn",r=Q(a[4]),o=a[5]?ce(a[5]):void 0;if(!!o!==(n==="pawn"&&p.backranks().has(r))||o==="king"&&i.rules!=="antichess")return;let s=i.board.pieces(i.turn,n);n==="pawn"&&!a[2]?s=s.intersect(p.fromFile(P(r))):a[2]&&(s=s.intersect(p.fromFile(a[2].charCodeAt(0)-97))),a[3]&&(s=s.intersect(p.fromRank(a[3].charCodeAt(0)-49)));let c=n==="pawn"?p.fromFile(P(r)):p.empty();s=s.intersect(c.union(Jt({color:y(i.turn),role:n},r,i.board.occupied)));let h;for(let u of s)if(i.dests(u,t).has(r)){if(C(h))return;h=u}if(C(h))return{from:h,to:r,promotion:o}};var Xt=class i{constructor(e,t,a,n,r){this.position=e;this.parent=t;this.move=a;this.san=n;this.ply=r}position;parent;move;san;ply;children=[];comments=[];nags=[];info=null;judged=null;get fen(){return ye(this.position.toSetup())}get turn(){return this.position.turn}get lastMove(){return!this.move||!this.parent?null:cn(this.parent.position,this.move)}get captured(){if(!this.move||!this.parent)return null;let{board:e,turn:t}=this.parent.position,[a,n]=[e.get(this.move.from),e.get(this.move.to)];return n?n.color===t?null:n:a?.role==="pawn"&&(this.move.from-this.move.to)%8!==0?{role:"pawn",color:this.turn}:null}get uci(){return this.move?we(this.move):""}get number(){let e=this.parent;return e?`${e.position.fullmoves}${e.turn==="white"?".":"…"}`:""}get evaluated(){return this.position.isCheckmate()?{score:{mate:0,win_probability:0},wdl:null}:this.position.isEnd()?{score:{cp:0,win_probability:.5},wdl:null}:this.info?.lines[0]??this.judged}path(){let e=[];for(let t=this;t.parent;t=t.parent)e.unshift(t);return e}root(){return this.path()[0]?.parent??this}play(e){let t=this.after(e);return t?.add(),t}after(e){if(!("from"in e))return null;let t=he(this.position,e);if(!this.position.isLegal(t))return null;let a=we(t),n=this.children.find(s=>s.uci===a);if(n)return n;let r=Di(this.position,t),o=this.position.clone();return o.play(t),new i(o,this,t,r,this.ply+1)}playUci(e){let t=fe(e);return t?this.play(t):null}playText(e){let t=this.read(e);return t?this.play(t):null}read(e){let t=e.trim(),a=t.replace(/[0o]/g,"O"),n=Xi(this.position,t)??Xi(this.position,a);if(n)return n;let r=fe(t.toLowerCase());if(!r||!("from"in r))return Xi(this.position,t.charAt(0).toUpperCase()+t.slice(1))??null;let o=he(this.position,r);return this.position.isLegal(o)?o:null}add(){let e=this.parent?.children;e&&!e.includes(this)&&e.push(this)}remove(){if(!this.parent)return;let e=this.parent.children;e.splice(e.indexOf(this),1)}promote(){for(let e of this.path()){let t=e.parent?.children??[],a=t.indexOf(e);a<0||(t.splice(a,1),t.unshift(e))}}isOnMainLine(){return this.onMainLine()===this}onMainLine(){return this.path().find(a=>a.parent?.children[0]!==a)?.parent??this}mainLine(){let e=[];for(let t=this;t;t=t.children[0])e.push(t);return e}last(){return this.mainLine().at(-1)??this}};function xe(i){return ye(i.toSetup(),{epd:!0})}function cn(i,e){let t=Yi(i,e),a=t?ii(i.turn,t):e.to;return[T(e.from),T(a)]}function de(i){return ai(i).chain(t=>li.fromSetup(t)).unwrap(t=>new Xt(t,null,null,"",0),()=>{throw new Error(l.noPosition(i))})}function ci(){return de(ge)}function Z(i){return{fen:i.root().fen,moves:i.path().map(e=>e.san)}}function $i(i){return i.path().reduce((e,{uci:t,comments:a})=>{let n=e.playUci(t)??e;return n.comments=[...a],n},de(i.root().fen))}function ae(i,e){let t=i.clone(),a=[];for(let n of e){let r=fe(n);if(!r||!("from"in r))break;let o=he(t,r);if(!t.isLegal(o))break;a.push(Di(t,o)),t.play(o)}return a}function be(i,e,t){let a=e?fe(e):void 0;if(!a||!("from"in a))return[];let[n,r]=cn(i,he(i,a));return[{orig:n,dest:r,brush:t}]}var et=class{constructor(e,t,a,n,r){this.engine=e;this.recording=t;this.tab=a;this.redraw=n;this.announce=r}engine;recording;tab;redraw;announce;root=ci();current=this.root;tags=new Map;arrowsShown=!0;elo=[0,0];panels=new Map;panel(){let e=this.panels.get(this.tab);if(!e)throw new Error(`there is no tab ${this.tab}`);return e}get tabs(){return[...this.panels.keys()]}update(){this.panel().update(),this.redraw()}go(e){e!==this.current&&(this.current=e,this.update())}load(e,t,a=e){this.root=e,this.tags=t,this.current=a,this.update()}openTab(e){e===this.tab||!this.panels.has(e)||(this.panel().leave(),this.tab=e,this.panel().open?.(),this.update())}move(e){if(this.panel().onMove?.(e))return;let t=this.current.play(e);t&&(this.go(t),this.announce(`${t.number} ${t.san}`))}learn(e,t){let a=e.info;(!a||t.depth>=a.depth||t.lines.length>a.lines.length)&&(e.info=t)}};var hn=["white","black"];var je=["a","b","c","d","e","f","g","h"],hi=["1","2","3","4","5","6","7","8"];var un=[...hi].reverse(),wi=je.flatMap(i=>hi.map(e=>i+e)),Te=i=>i.every(e=>e>=0&&e<=7)?wi[8*i[0]+i[1]]:void 0,Pe=i=>Te(i),D=i=>[i.charCodeAt(0)-97,i.charCodeAt(1)-49];var $t=wi.map(D),mn=wi.map((i,e)=>({key:i,pos:$t[e]}));function ea(i){let e,t=()=>(e===void 0&&(e=i()),e);return t.clear=()=>{e=void 0},t}var pn=()=>{let i;return{start(){i=performance.now()},cancel(){i=void 0},stop(){if(!i)return 0;let e=performance.now()-i;return i=void 0,e}}},Le=i=>i==="white"?"black":"white",Re=(i,e)=>(i[0]-e[0])**2+(i[1]-e[1])**2,yi=(i,e)=>i.role===e.role&&i.color===e.color,fn=(i,e)=>i[0]===e[0]&&i[1]===e[1],Ke=i=>(e,t)=>[(t?e[0]:7-e[0])*i.width/8,(t?7-e[1]:e[1])*i.height/8],X=(i,e)=>{i.style.transform=`translate(${e[0]}px,${e[1]}px)`},ia=(i,e,t=1)=>{i.style.transform=`translate(${e[0]}px,${e[1]}px) scale(${t})`},Ce=(i,e)=>{i.style.display=e?"":"none"},ue=i=>{if(i.clientX||i.clientX===0)return[i.clientX,i.clientY];if(i.targetTouches?.[0])return[i.targetTouches[0].clientX,i.targetTouches[0].clientY]},ns=ea(()=>!("ontouchstart"in window)&&["macintosh","firefox"].every(i=>navigator.userAgent.toLowerCase().includes(i))),it=i=>i.button===2&&!(i.ctrlKey&&ns()),$=(i,e)=>{let t=document.createElement(i);return e&&(t.className=e),t};function tt(i,e,t){let a=D(i);return e||(a[0]=7-a[0],a[1]=7-a[1]),[t.left+t.width*a[0]/8+t.width/16,t.top+t.height*(7-a[1])/8+t.height/16]}var Ve=(i,e)=>Math.abs(i-e),at=(i,e,t,a)=>Ve(i,t)*Ve(e,a)===2,ta=(i,e,t,a)=>i===t!=(e===a),aa=(i,e,t,a)=>Ve(i,t)===Ve(e,a)&&i!==t,gn=(i,e,t,a)=>ta(i,e,t,a)||aa(i,e,t,a),bn=(i,e,t,a)=>Math.max(Ve(i,t),Ve(e,a))===1;var Vn=(i,e,t,a,n)=>{let r=n?1:-1;return i===t&&(a===e+r||a===e+2*r&&(n?e<=1:e>=6))},Cn=(i,e,t,a)=>{let n=t-i,r=a-e;if(n&&r&&Math.abs(n)!==Math.abs(r))return[];let o=Math.sign(n),s=Math.sign(r),c=[],h=i+o,u=e+s;for(;h!==t||u!==a;)c.push([h,u]),h+=o,u+=s;return c.map(Te).filter(m=>m!==void 0)};var rs=i=>Ve(i.orig.pos[0],i.dest.pos[0])<=1&&(Ve(i.orig.pos[0],i.dest.pos[0])===1?i.dest.pos[1]===i.orig.pos[1]+(i.color==="white"?1:-1):Vn(...i.orig.pos,...i.dest.pos,i.color==="white")),os=i=>at(...i.orig.pos,...i.dest.pos),kn=i=>aa(...i.orig.pos,...i.dest.pos),An=i=>ta(...i.orig.pos,...i.dest.pos),ss=i=>kn(i)||An(i),ls=i=>bn(...i.orig.pos,...i.dest.pos)||i.orig.pos[1]===i.dest.pos[1]&&i.orig.pos[1]===(i.color==="white"?0:7)&&(i.orig.pos[0]===4&&(i.dest.pos[0]===2&&i.rookFilesFriendlies.includes(0)||i.dest.pos[0]===6&&i.rookFilesFriendlies.includes(7))||i.rookFilesFriendlies.includes(i.dest.pos[0])),cs={pawn:rs,knight:os,bishop:kn,rook:An,queen:ss,king:ls};function na(i,e){let t=i.pieces,a=t.get(e);if(!a||a.color===i.turnColor)return[];let n=a.color,r=new Map([...t].filter(([u,m])=>m.color===n)),o=new Map([...t].filter(([u,m])=>m.color===Le(n))),s={key:e,pos:D(e)},c=u=>cs[a.role](u)&&i.premovable.additionalPremoveRequirements(u),h={orig:s,role:a.role,allPieces:t,friendlies:r,enemies:o,color:n,rookFilesFriendlies:Array.from(t).filter(([u,m])=>u[1]===(n==="white"?"1":"8")&&m.color===n&&m.role==="rook").map(([u])=>D(u)[0]),lastMove:i.lastMove};return mn.filter(u=>c({...h,dest:u})).map(u=>u.key)}function q(i,...e){i&&setTimeout(()=>i(...e),1)}function vn(i){i.orientation=Le(i.orientation),i.animation.current=i.draggable.current=i.selected=void 0}function Dn(i,e){for(let[t,a]of e)a?i.pieces.set(t,a):i.pieces.delete(t)}function wn(i,e){if(i.check=void 0,e===!0&&(e=i.turnColor),e)for(let[t,a]of i.pieces)a.role==="king"&&a.color===e&&(i.check=t)}function hs(i,e,t,a){re(i),i.premovable.current=[e,t],q(i.premovable.events.set,e,t,a)}function ne(i){i.premovable.current&&(i.premovable.current=void 0,q(i.premovable.events.unset))}function ds(i,e,t){ne(i),i.predroppable.current={role:e,key:t},q(i.predroppable.events.set,e,t)}function re(i){let e=i.predroppable;e.current&&(e.current=void 0,q(e.events.unset))}function us(i,e,t){if(!i.autoCastle)return!1;let a=i.pieces.get(e);if(!a||a.role!=="king")return!1;let n=D(e),r=D(t);if(n[1]!==0&&n[1]!==7||n[1]!==r[1])return!1;n[0]===4&&!i.pieces.has(t)&&(r[0]===6?t=Pe([7,r[1]]):r[0]===2&&(t=Pe([0,r[1]])));let o=i.pieces.get(t);return!o||o.color!==a.color||o.role!=="rook"?!1:(i.pieces.delete(e),i.pieces.delete(t),n[0]<r[0]?(i.pieces.set(Pe([6,r[1]]),a),i.pieces.set(Pe([5,r[1]]),o)):(i.pieces.set(Pe([2,r[1]]),a),i.pieces.set(Pe([3,r[1]]),o)),!0)}function ra(i,e,t){let a=i.pieces.get(e),n=i.pieces.get(t);if(e===t||!a)return!1;let r=n&&n.color!==a.color?n:void 0;return t===i.selected&&I(i),q(i.events.move,e,t,r),us(i,e,t)||(i.pieces.set(t,a),i.pieces.delete(e)),i.lastMove=[e,t],i.check=void 0,q(i.events.change),r||!0}function nt(i,e,t,a){if(i.pieces.has(t))if(a)i.pieces.delete(t);else return!1;return q(i.events.dropNewPiece,e,t),i.pieces.set(t,e),i.lastMove=[t],i.check=void 0,q(i.events.change),i.movable.dests=void 0,i.turnColor=Le(i.turnColor),!0}function yn(i,e,t){let a=ra(i,e,t);return a&&(i.movable.dests=void 0,i.turnColor=Le(i.turnColor),i.animation.current=void 0),a}function oa(i,e,t){if(ot(i,e,t)){let a=yn(i,e,t);if(a){let n=i.hold.stop();I(i);let r={premove:!1,ctrlKey:i.stats.ctrlKey,holdTime:n};return a!==!0&&(r.captured=a),q(i.movable.events.after,e,t,r),!0}}else if(ps(i,e,t))return hs(i,e,t,{ctrlKey:i.stats.ctrlKey}),I(i),!0;return I(i),!1}function rt(i,e,t,a){let n=i.pieces.get(e);n&&(ms(i,e,t)||a)?(i.pieces.delete(e),nt(i,n,t,a),q(i.movable.events.afterNewPiece,n.role,t,{premove:!1,predrop:!1})):n&&fs(i,e,t)?ds(i,n.role,t):(ne(i),re(i)),i.pieces.delete(e),I(i)}function Si(i,e,t){if(q(i.events.select,e),i.selected){if(i.selected===e&&!i.draggable.enabled){I(i),i.hold.cancel();return}else if((i.selectable.enabled||t)&&i.selected!==e&&oa(i,i.selected,e)){i.stats.dragged=!1;return}}(i.selectable.enabled||i.draggable.enabled)&&(Sn(i,e)||la(i,e))&&(sa(i,e),i.hold.start())}function sa(i,e){i.selected=e,la(i,e)?i.premovable.customDests||(i.premovable.dests=na(i,e)):i.premovable.dests=void 0}function I(i){i.selected=void 0,i.premovable.dests=void 0,i.hold.cancel()}function Sn(i,e){let t=i.pieces.get(e);return!!t&&(i.movable.color==="both"||i.movable.color===t.color&&i.turnColor===t.color)}var ot=(i,e,t)=>e!==t&&Sn(i,e)&&(i.movable.free||!!i.movable.dests?.get(e)?.includes(t));function ms(i,e,t){let a=i.pieces.get(e);return!!a&&(e===t||!i.pieces.has(t))&&(i.movable.color==="both"||i.movable.color===a.color&&i.turnColor===a.color)}function la(i,e){let t=i.pieces.get(e);return!!t&&i.premovable.enabled&&i.movable.color===t.color&&i.turnColor!==t.color}var ps=(i,e,t)=>e!==t&&la(i,e)&&(i.premovable.customDests?.get(e)??na(i,e)).includes(t);function fs(i,e,t){let a=i.pieces.get(e),n=i.pieces.get(t);return!!a&&(!n||n.color!==i.movable.color)&&i.predroppable.enabled&&(a.role!=="pawn"||t[1]!=="1"&&t[1]!=="8")&&i.movable.color===a.color&&i.turnColor!==a.color}function Bn(i,e){let t=i.pieces.get(e);return!!t&&i.draggable.enabled&&(i.movable.color==="both"||i.movable.color===t.color&&(i.turnColor===t.color||i.premovable.enabled))}function Gn(i){let e=i.premovable.current;if(!e)return!1;let t=e[0],a=e[1],n=!1;if(ot(i,t,a)){let r=yn(i,t,a);if(r){let o={premove:!0};r!==!0&&(o.captured=r),q(i.movable.events.after,t,a,o),n=!0}}return ne(i),n}function En(i,e){let t=i.predroppable.current,a=!1;if(!t)return!1;if(e(t)){let n={role:t.role,color:i.movable.color};nt(i,n,t.key)&&(q(i.movable.events.afterNewPiece,t.role,t.key,{premove:!1,predrop:!0}),a=!0)}return re(i),a}function Bi(i){ne(i),re(i),I(i)}function ca(i){i.movable.color=i.movable.dests=i.animation.current=void 0,Bi(i)}function ee(i,e,t){let a=Math.floor(8*(i[0]-t.left)/t.width);e||(a=7-a);let n=7-Math.floor(8*(i[1]-t.top)/t.height);return e||(n=7-n),a>=0&&a<8&&n>=0&&n<8?Te([a,n]):void 0}function Mn(i,e,t,a){let n=D(i),r=$t.filter(h=>fn(n,h)||gn(n[0],n[1],h[0],h[1])||at(n[0],n[1],h[0],h[1])),s=r.map(h=>tt(Pe(h),t,a)).map(h=>Re(e,h)),[,c]=s.reduce((h,u,m)=>h[0]<u?h:[u,m],[s[0],0]);return Te(r[c])}var L=i=>i.orientation==="white";var da="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",gs={p:"pawn",r:"rook",n:"knight",b:"bishop",q:"queen",k:"king"},bs={pawn:"p",rook:"r",knight:"n",bishop:"b",queen:"q",king:"k"};function st(i){i==="start"&&(i=da);let e=new Map,t=7,a=0;for(let n of i)switch(n){case" ":case"[":return e;case"/":if(--t,t<0)return e;a=0;break;case"~":{let r=Te([a-1,t]),o=r&&e.get(r);o&&(o.promoted=!0);break}default:{let r=n.charCodeAt(0);if(r<57)a+=r-48;else{let o=n.toLowerCase(),s=Te([a,t]);s&&e.set(s,{role:gs[o],color:n===o?"black":"white"}),++a}}}return e}function xn(i){return un.map(e=>je.map(t=>{let a=i.get(t+e);if(a){let n=bs[a.role];return a.color==="white"&&(n=n.toUpperCase()),a.promoted&&(n+="~"),n}else return"1"}).join("")).join("/").replace(/1{2,}/g,e=>e.length.toString())}function ua(i,e){e.animation&&(ma(i.animation,e.animation),(i.animation.duration||0)<70&&(i.animation.enabled=!1))}function lt(i,e){if(e.movable?.dests&&(i.movable.dests=void 0),e.drawable?.autoShapes&&(i.drawable.autoShapes=[]),ma(i,e),e.fen&&(i.pieces=st(e.fen),i.drawable.shapes=e.drawable?.shapes||[]),"check"in e&&wn(i,e.check||!1),"lastMove"in e&&!e.lastMove?i.lastMove=void 0:e.lastMove&&(i.lastMove=e.lastMove),i.selected&&sa(i,i.selected),ua(i,e),!i.movable.rookCastle&&i.movable.dests){let t=i.movable.color==="white"?"1":"8",a="e"+t,n=i.movable.dests.get(a),r=i.pieces.get(a);if(!n||!r||r.role!=="king")return;i.movable.dests.set(a,n.filter(o=>!(o==="a"+t&&n.includes("c"+t))&&!(o==="h"+t&&n.includes("g"+t))))}}function ma(i,e){for(let t in e)t==="__proto__"||t==="constructor"||!Object.prototype.hasOwnProperty.call(e,t)||(Object.prototype.hasOwnProperty.call(i,t)&&Tn(i[t])&&Tn(e[t])?ma(i[t],e[t]):i[t]=e[t])}function Tn(i){if(typeof i!="object"||i===null)return!1;let e=Object.getPrototypeOf(i);return e===Object.prototype||e===null}var ke=(i,e)=>e.animation.enabled?As(i,e):Ae(i,e);function Ae(i,e){let t=i(e);return e.dom.redraw(),t}var pa=(i,e)=>({key:i,pos:D(i),piece:e}),Cs=(i,e)=>e.sort((t,a)=>Re(i.pos,t.pos)-Re(i.pos,a.pos))[0];function ks(i,e){let t=new Map,a=[],n=new Map,r=[],o=[],s=new Map,c,h,u;for(let[m,f]of i)s.set(m,pa(m,f));for(let m of wi)c=e.pieces.get(m),h=s.get(m),c?h?yi(c,h.piece)||(r.push(h),o.push(pa(m,c))):o.push(pa(m,c)):h&&r.push(h);for(let m of o)h=Cs(m,r.filter(f=>yi(m.piece,f.piece))),h&&(u=[h.pos[0]-m.pos[0],h.pos[1]-m.pos[1]],t.set(m.key,u.concat(u)),a.push(h.key));for(let m of r)a.includes(m.key)||n.set(m.key,m.piece);return{anims:t,fadings:n}}function Pn(i,e){let t=i.animation.current;if(t===void 0){i.dom.destroyed||i.dom.redrawNow();return}let a=1-(e-t.start)*t.frequency;if(a<=0)i.animation.current=void 0,i.dom.redrawNow();else{let n=vs(a);for(let r of t.plan.anims.values())r[2]=r[0]*n,r[3]=r[1]*n;i.dom.redrawNow(!0),requestAnimationFrame((r=performance.now())=>Pn(i,r))}}function As(i,e){let t=new Map(e.pieces),a=i(e),n=ks(t,e);if(n.anims.size||n.fadings.size){let r=e.animation.current&&e.animation.current.start;e.animation.current={start:performance.now(),frequency:1/e.animation.duration,plan:n},r||Pn(e,performance.now())}else e.dom.redraw();return a}var vs=i=>i<.5?4*i*i*i:(i-1)*(2*i-2)*(2*i-2)+1;var Ds=["green","red","blue","yellow"];function Ln(i,e){if(e.touches&&e.touches.length>1)return;e.stopPropagation(),e.preventDefault(),e.ctrlKey?I(i):Bi(i);let t=ue(e),a=ee(t,L(i),i.dom.bounds());a&&(i.drawable.current={orig:a,pos:t,brush:ws(e),snapToValidMove:i.drawable.defaultSnapToValidMove},Rn(i))}function Rn(i){requestAnimationFrame(()=>{let e=i.drawable.current;if(e){let t=ee(e.pos,L(i),i.dom.bounds());t||(e.snapToValidMove=!1);let a=e.snapToValidMove?Mn(e.orig,e.pos,L(i),i.dom.bounds()):t;a!==e.mouseSq&&(e.mouseSq=a,e.dest=a!==e.orig?a:void 0,i.dom.redrawNow()),Rn(i)}})}function Kn(i,e){i.drawable.current&&(i.drawable.current.pos=ue(e))}function Nn(i){let e=i.drawable.current;e&&(e.mouseSq&&ys(i.drawable,e),fa(i))}function fa(i){i.drawable.current&&(i.drawable.current=void 0,i.dom.redraw())}function On(i){i.drawable.shapes.length&&(i.drawable.shapes=[],i.dom.redraw(),zn(i.drawable))}var ct=(i,e)=>i.orig===e.orig&&i.dest===e.dest,ga=(i,e)=>i.brush===e.brush;function ws(i){let e=(i.shiftKey||i.ctrlKey)&&it(i),t=i.altKey||i.metaKey||i.getModifierState?.("AltGraph");return Ds[(e?1:0)+(t?2:0)]}function ys(i,e){let t=i.shapes.find(a=>ct(a,e));t&&(i.shapes=i.shapes.filter(a=>!ct(a,e))),(!t||!ga(t,e))&&i.shapes.push({orig:e.orig,dest:e.dest,brush:e.brush}),zn(i)}function zn(i){i.onChange&&i.onChange(i.shapes)}function Fn(i,e){if(!(i.trustAllEvents||e.isTrusted)||e.buttons!==void 0&&e.buttons>1||e.touches&&e.touches.length>1)return;let t=i.dom.bounds(),a=ue(e),n=ee(a,L(i),t);if(!n)return;let r=i.pieces.get(n),o=i.selected;if(!o&&i.drawable.enabled&&(i.drawable.eraseOnMovablePieceClick||!r||r.color!==i.turnColor)&&On(i),e.cancelable!==!1&&(!e.touches||i.blockTouchScroll||r||o||Bs(i,a)))e.preventDefault();else if(e.touches)return;let s=!!i.premovable.current,c=!!i.predroppable.current;i.stats.ctrlKey=e.ctrlKey,i.selected&&ot(i,i.selected,n)?ke(m=>Si(m,n),i):Si(i,n);let h=i.selected===n,u=qn(i,n);if(r&&u&&h&&Bn(i,n)){i.draggable.current={orig:n,piece:r,origPos:a,pos:a,started:i.draggable.autoDistance&&i.stats.dragged,element:u,previouslySelected:o,originTarget:e.target,keyHasChanged:!1},u.cgDragging=!0,u.classList.add("dragging");let m=i.dom.elements.ghost;m&&(m.className=`ghost ${r.color} ${r.role}`,X(m,Ke(t)(D(n),L(i))),Ce(m,!0)),Va(i)}else s&&ne(i),c&&re(i);i.dom.redraw()}function Bs(i,e){let t=L(i),a=i.dom.bounds(),n=Math.pow(i.touchIgnoreRadius*a.width/16,2)*2;for(let r of i.pieces.keys()){let o=tt(r,t,a);if(Re(o,e)<=n)return!0}return!1}function Wn(i,e,t,a){i.pieces.set("a0",e),i.dom.redraw();let r=ue(t);i.draggable.current={orig:"a0",piece:e,origPos:r,pos:r,started:!0,element:()=>qn(i,"a0"),originTarget:t.target,newPiece:!0,force:!!a,keyHasChanged:!1},Va(i)}function Va(i){requestAnimationFrame(()=>{let e=i.draggable.current;if(!e)return;i.animation.current?.plan.anims.has(e.orig)&&(i.animation.current=void 0);let t=i.pieces.get(e.orig);if(!t||!yi(t,e.piece))Ie(i);else if(!e.started&&Re(e.pos,e.origPos)>=Math.pow(i.draggable.distance,2)&&(e.started=!0),e.started){if(typeof e.element=="function"){let n=e.element();if(!n)return;n.cgDragging=!0,n.classList.add("dragging"),e.element=n}let a=i.dom.bounds();X(e.element,[e.pos[0]-a.left-a.width/16,e.pos[1]-a.top-a.height/16]),i.jsHover?Gs(i,e):e.keyHasChanged||(e.keyHasChanged=e.orig!==ee(e.pos,L(i),a))}Va(i)})}function Gs(i,e){let t=ee(e.pos,L(i),i.dom.bounds());if(e.orig!==t){if(e.keyHasChanged=!0,t)if(i.movable.dests?.get(e.orig)?.includes(t)??i.premovable.dests?.includes(t)){let n=i.dom.elements.board.querySelector(`.move-dest[data-key="${t}"], .premove-dest[data-key="${t}"]`);n&&!n.classList.contains("hover")&&(ba(i),n.classList.add("hover"))}else ba(i)}else ba(i)}function ba(i){let e=i.dom.elements.board.querySelectorAll(".move-dest, .premove-dest");e.length>0&&e.forEach(t=>t.classList.remove("hover"))}function Hn(i,e){i.draggable.current&&(!e.touches||e.touches.length<2)&&(i.draggable.current.pos=ue(e))}function jn(i,e){let t=i.draggable.current;if(!t)return;if(e.type==="touchend"&&e.cancelable!==!1&&e.preventDefault(),e.type==="touchend"&&t.originTarget!==e.target&&!t.newPiece){i.draggable.current=void 0;return}ne(i),re(i);let a=ue(e)||t.pos,n=ee(a,L(i),i.dom.bounds());n&&t.started&&t.orig!==n?t.newPiece?rt(i,t.orig,n,t.force):(i.stats.ctrlKey=e.ctrlKey,oa(i,t.orig,n)&&(i.stats.dragged=!0)):t.newPiece?i.pieces.delete(t.orig):i.draggable.deleteOnDropOff&&!n&&(i.pieces.delete(t.orig),q(i.events.change)),(t.orig===t.previouslySelected||t.keyHasChanged)&&(t.orig===n||!n)?I(i):i.selectable.enabled||I(i),In(i),i.draggable.current=void 0,i.dom.redraw()}function Ie(i){let e=i.draggable.current;e&&(e.newPiece&&i.pieces.delete(e.orig),i.draggable.current=void 0,I(i),In(i),i.dom.redraw())}function In(i){let e=i.dom.elements;e.ghost&&Ce(e.ghost,!1)}function qn(i,e){let t=i.dom.elements.board.firstChild;for(;t;){if(t.cgKey===e&&t.tagName==="PIECE")return t;t=t.nextSibling}}function Zn(i,e){i.exploding={stage:1,keys:e},i.dom.redraw(),setTimeout(()=>{_n(i,2),setTimeout(()=>_n(i,void 0),120)},120)}function _n(i,e){i.exploding&&(e?i.exploding.stage=e:i.exploding=void 0,i.dom.redraw())}function Un(i,e){function t(){vn(i),e()}return{set(a){a.orientation&&a.orientation!==i.orientation&&t(),ua(i,a),(a.fen?ke:Ae)(n=>lt(n,a),i)},state:i,getFen:()=>xn(i.pieces),toggleOrientation:t,setPieces(a){ke(n=>Dn(n,a),i)},selectSquare(a,n){a?ke(r=>Si(r,a,n),i):i.selected&&(I(i),i.dom.redraw())},move(a,n){ke(r=>ra(r,a,n),i)},newPiece(a,n){ke(r=>nt(r,a,n),i)},playPremove(){if(i.premovable.current){if(ke(Gn,i))return!0;i.dom.redraw()}return!1},playPredrop(a){if(i.predroppable.current){let n=En(i,a);return i.dom.redraw(),n}return!1},cancelPremove(){Ae(ne,i)},cancelPredrop(){Ae(re,i)},cancelMove(){Ae(a=>{Bi(a),Ie(a)},i)},stop(){Ae(a=>{ca(a),Ie(a)},i)},explode(a){Zn(i,a)},setAutoShapes(a){Ae(n=>n.drawable.autoShapes=a,i)},setShapes(a){Ae(n=>n.drawable.shapes=a.slice(),i)},getKeyAtDomPos(a){return ee(a,L(i),i.dom.bounds())},redrawAll:e,dragNewPiece(a,n,r){Wn(i,a,n,r)},destroy(){ca(i),i.dom.unbind?.(),i.dom.destroyed=!0}}}function Jn(){return{pieces:st(da),orientation:"white",turnColor:"white",coordinates:!0,coordinatesOnSquares:!1,ranksPosition:"right",autoCastle:!0,viewOnly:!1,disableContextMenu:!1,addPieceZIndex:!1,blockTouchScroll:!1,touchIgnoreRadius:1,pieceKey:!1,trustAllEvents:!1,jsHover:!1,highlight:{lastMove:!0,check:!0},animation:{enabled:!0,duration:200},movable:{free:!0,color:"both",showDests:!0,events:{},rookCastle:!0},premovable:{enabled:!0,showDests:!0,castle:!0,additionalPremoveRequirements:i=>!0,events:{}},predroppable:{enabled:!1,events:{}},draggable:{enabled:!0,distance:3,autoDistance:!0,showGhost:!0,deleteOnDropOff:!1},dropmode:{active:!1},selectable:{enabled:!0},stats:{dragged:!("ontouchstart"in window)},events:{},drawable:{enabled:!0,visible:!0,defaultSnapToValidMove:!0,eraseOnMovablePieceClick:!0,shapes:[],autoShapes:[],brushes:{green:{key:"g",color:"#15781B",opacity:1,lineWidth:10},red:{key:"r",color:"#882020",opacity:1,lineWidth:10},blue:{key:"b",color:"#003088",opacity:1,lineWidth:10},yellow:{key:"y",color:"#e68f00",opacity:1,lineWidth:10},paleBlue:{key:"pb",color:"#003088",opacity:.4,lineWidth:15},paleGreen:{key:"pg",color:"#15781B",opacity:.4,lineWidth:15},paleRed:{key:"pr",color:"#882020",opacity:.4,lineWidth:15},paleGrey:{key:"pgr",color:"#4a4a4a",opacity:.35,lineWidth:15},purple:{key:"purple",color:"#68217a",opacity:.65,lineWidth:10},pink:{key:"pink",color:"#ee2080",opacity:.5,lineWidth:10},white:{key:"white",color:"white",opacity:1,lineWidth:10},paleWhite:{key:"pwhite",color:"white",opacity:.6,lineWidth:10}},prevSvgHash:""},hold:pn()}}function $n(){let i=O("defs"),e=H(O("filter"),{id:"cg-filter-blur"});return e.appendChild(H(O("feGaussianBlur"),{stdDeviation:"0.013"})),i.appendChild(e),i}function er(i,e){let t=i.drawable,a=t.current,n=a&&a.mouseSq?a:void 0,r=new Map,o=i.dom.bounds(),s=t.autoShapes.filter(m=>!m.piece);for(let m of t.shapes.concat(s).concat(n?[n]:[])){if(!m.dest)continue;let f=r.get(m.dest)??new Set,g=dt(ht(D(m.orig),i.orientation),o),b=dt(ht(D(m.dest),i.orientation),o);f.add(sr(lr(g,b))),r.set(m.dest,f)}let c=[],h=n?t.shapes.findIndex(m=>ct(m,n)&&ga(m,n)):-1;for(let[m,f]of t.shapes.concat(s).entries()){let g=h!==-1&&h===m;c.push({shape:f,current:!1,pendingErase:g,hash:Qn(f,Ca(f.dest,r),!1,o,g,Xn(f.dest,r))})}n&&h===-1&&c.push({shape:n,current:!0,hash:Qn(n,Ca(n.dest,r),!0,o,!1,Xn(n.dest,r)),pendingErase:!1});let u=c.map(m=>m.hash).join(";");u!==i.drawable.prevSvgHash&&(i.drawable.prevSvgHash=u,Ms(t,c,e),xs(c,e,m=>Ls(i,m,t.brushes,r,o)))}function Ms(i,e,t){for(let a of[t.shapes,t.shapesBelow]){let n=a.querySelector("defs"),r=e.filter(h=>a===t.shapesBelow==!!h.shape.below),o=new Map;for(let h of r.filter(u=>u.shape.dest&&u.shape.brush)){let u=nr(i.brushes[h.shape.brush],h.shape.modifiers),{key:m,color:f}=rr(h.shape);m&&f&&o.set(m,{key:m,color:f,opacity:1,lineWidth:1}),o.set(u.key,u)}let s=new Set,c=n.firstElementChild;for(;c;)s.add(c.getAttribute("cgKey")),c=c.nextElementSibling;for(let[h,u]of o.entries())s.has(h)||n.appendChild(Ns(u))}}function xs(i,e,t){for(let[a,n]of[[e.shapes,e.custom],[e.shapesBelow,e.customBelow]]){let[r,o]=[a,n].map(h=>h.querySelector("g")),s=i.filter(h=>a===e.shapesBelow==!!h.shape.below),c=new Map;for(let h of s)c.set(h.hash,!1);for(let h of[r,o]){let u=[],m=h.firstElementChild,f;for(;m;)f=m.getAttribute("cgHash"),c.has(f)?c.set(f,!0):u.push(m),m=m.nextElementSibling;for(let g of u)h.removeChild(g)}for(let h of s.filter(u=>!c.get(u.hash)))for(let u of t(h))u.isCustom?o.appendChild(u.el):r.appendChild(u.el)}}function Qn({orig:i,dest:e,brush:t,piece:a,modifiers:n,customSvg:r,label:o,below:s},c,h,u,m,f){return[u.width,u.height,h,m&&"pendingErase",f,i,e,t,c&&"-",a&&Ts(a),n&&Ps(n),r&&`custom-${Yn(r.html)},${r.center?.[0]??"o"}`,o&&`label-${Yn(o.text)}`,s&&"below"].filter(g=>g).join(",")}var Ts=i=>[i.color,i.role,i.scale].filter(e=>e).join(","),Ps=i=>[i.lineWidth,i.hilite].filter(e=>e).join(",");function Yn(i){let e=0;for(let t=0;t<i.length;t++)e=(e<<5)-e+i.charCodeAt(t)>>>0;return e.toString()}function Ls(i,{shape:e,current:t,pendingErase:a,hash:n},r,o,s){let c=dt(ht(D(e.orig),i.orientation),s),h=e.dest?dt(ht(D(e.dest),i.orientation),s):c,u=e.brush&&nr(r[e.brush],e.modifiers),m=o.get(e.dest),f=[];if(u){let g=H(O("g"),{cgHash:n});f.push({el:g}),c[0]!==h[0]||c[1]!==h[1]?g.appendChild(Ks(e,u,c,h,t,Ca(e.dest,o),a)):g.appendChild(Rs(r[e.brush],c,t,s,a))}if(e.label){let g=e.label;g.fill??(g.fill=e.brush&&r[e.brush].color);let b=e.brush?void 0:"tr";f.push({el:Os(g,n,c,h,m,b),isCustom:!0})}if(e.customSvg){let g=e.customSvg.center??"orig",[b,B]=g==="label"?cr(c,h,m).map(S=>S-.5):g==="dest"?h:c,G=H(O("g"),{transform:`translate(${b},${B})`,cgHash:n});G.innerHTML=`<svg width="1" height="1" viewBox="0 0 100 100">${e.customSvg.html}</svg>`,f.push({el:G,isCustom:!0})}return f}function Rs(i,e,t,a,n){let r=zs(),o=(a.width+a.height)/(4*Math.max(a.width,a.height));return H(O("circle"),{stroke:i.color,"stroke-width":r[t?0:1],fill:"none",opacity:or(i,t,n),cx:e[0],cy:e[1],r:o-r[1]/2})}function Ks(i,e,t,a,n,r,o){function s(u){let m=Ws(r&&!n),f=a[0]-t[0],g=a[1]-t[1],b=Math.atan2(g,f),B=Math.cos(b)*m,G=Math.sin(b)*m,S=rr(i);return H(O("line"),{stroke:u?S.color:e.color,"stroke-width":Fs(e,n)*(u?1.14:1),"stroke-linecap":"round","marker-end":`url(#arrowhead-${u?S.key:e.key})`,opacity:i.modifiers?.hilite&&!o?1:or(e,n,o),x1:t[0],y1:t[1],x2:a[0]-B,y2:a[1]-G})}if(!i.modifiers?.hilite)return s(!1);let c=H(O("g"),{opacity:e.opacity}),h=H(O("g"),{filter:"url(#cg-filter-blur)"});return h.appendChild(Hs(t,a)),h.appendChild(s(!0)),c.appendChild(h),c.appendChild(s(!1)),c}function Ns(i){let e=H(O("marker"),{id:"arrowhead-"+i.key,orient:"auto",overflow:"visible",markerWidth:4,markerHeight:4,refX:i.key.startsWith("hilite")?1.86:2.05,refY:2});return e.appendChild(H(O("path"),{d:"M0,0 V4 L3,2 Z",fill:i.color})),e.setAttribute("cgKey",i.key),e}function Os(i,e,t,a,n,r){let s=.4*.75**i.text.length,c=cr(t,a,n),h=r==="tr"?.4:0,u=H(O("g"),{transform:`translate(${c[0]+h},${c[1]-h})`,cgHash:e});u.appendChild(H(O("circle"),{r:.4/2,"fill-opacity":r?1:.8,"stroke-opacity":r?1:.7,"stroke-width":.03,fill:i.fill??"#666",stroke:"white"}));let m=H(O("text"),{"font-size":s,"font-family":"Noto Sans","text-anchor":"middle",fill:"white",y:.13*.75**i.text.length});return m.innerHTML=i.text,u.appendChild(m),u}var ht=(i,e)=>e==="white"?i:[7-i[0],7-i[1]],ir=(i,e)=>(i%e+e)%e,tr=(i,e)=>ir(i+e,16),ar=i=>[...i].some(e=>[-3,-2,-1,1,2,3].some(t=>i.has(tr(e,t)))),Ca=(i,e)=>!!i&&e.has(i)&&ar(e.get(i)),O=i=>document.createElementNS("http://www.w3.org/2000/svg",i),Xn=(i,e)=>i&&e.has(i)?e.get(i).size:0;function H(i,e){for(let t in e)Object.prototype.hasOwnProperty.call(e,t)&&i.setAttribute(t,e[t]);return i}var nr=(i,e)=>e?{color:i.color,opacity:Math.round(i.opacity*10)/10,lineWidth:Math.round(e.lineWidth||i.lineWidth),key:[i.key,e.lineWidth].filter(t=>t).join("")}:i,zs=()=>[3/64,4/64],Fs=(i,e)=>(i.lineWidth||10)*(e?.85:1)/64;function rr(i){let e=i.modifiers?.hilite;return{key:e&&`hilite-${e.replace("#","")}`,color:e}}var or=(i,e,t)=>(i.opacity||1)*(t?.6:e?.9:1),Ws=i=>(i?20:10)/64;function dt(i,e){let t=Math.min(1,e.width/e.height),a=Math.min(1,e.height/e.width);return[(i[0]-3.5)*t,(3.5-i[1])*a]}function Hs(i,e){let t={from:[Math.floor(Math.min(i[0],e[0])),Math.floor(Math.min(i[1],e[1]))],to:[Math.ceil(Math.max(i[0],e[0])),Math.ceil(Math.max(i[1],e[1]))]};return H(O("rect"),{x:t.from[0],y:t.from[1],width:t.to[0]-t.from[0],height:t.to[1]-t.from[1],fill:"none",stroke:"none"})}var sr=i=>ir(Math.round(i*8/Math.PI),16),lr=(i,e)=>Math.atan2(e[1]-i[1],e[0]-i[0])+Math.PI,js=(i,e)=>Math.sqrt([i[0]-e[0],i[1]-e[1]].reduce((t,a)=>t+a*a,0));function cr(i,e,t){let a=js(i,e),n=lr(i,e);if(t&&(a-=33/64,ar(t))){a-=10/64;let r=sr(n);r&1&&[-1,1].some(o=>t.has(tr(r,o)))&&(a-=.4)}return[i[0]-Math.cos(n)*a,i[1]-Math.sin(n)*a].map(r=>r+.5)}function dr(i,e){i.innerHTML="",i.classList.add("cg-wrap");for(let u of hn)i.classList.toggle("orientation-"+u,e.orientation===u);i.classList.toggle("manipulable",!e.viewOnly);let t=$("cg-container");i.appendChild(t);let a=$("cg-board");t.appendChild(a);let n,r,o,s,c;if(e.drawable.visible&&([n,r]=["cg-shapes-below","cg-shapes"].map(u=>hr(u,!0)),[o,s]=["cg-custom-below","cg-custom-svgs"].map(u=>hr(u,!1)),c=$("cg-auto-pieces"),t.appendChild(n),t.appendChild(o),t.appendChild(r),t.appendChild(s),t.appendChild(c)),e.coordinates){let u=e.orientation==="black"?" black":"",m=e.ranksPosition==="left"?" left":"";if(e.coordinatesOnSquares){let f=e.orientation==="white"?g=>g+1:g=>8-g;je.forEach((g,b)=>t.appendChild(ka(hi.map(B=>g+B),"squares rank"+f(b)+u+m,b%2===0?"black":"white")))}else t.appendChild(ka(hi,"ranks"+u+m,e.ranksPosition==="right"==(e.orientation==="white")?"white":"black")),t.appendChild(ka(je,"files"+u,Le(e.orientation)))}let h;return!e.viewOnly&&e.draggable.enabled&&e.draggable.showGhost&&(h=$("piece","ghost"),Ce(h,!1),t.appendChild(h)),{board:a,container:t,wrap:i,ghost:h,shapes:r,shapesBelow:n,custom:s,customBelow:o,autoPieces:c}}function hr(i,e){let t=H(O("svg"),{class:i,viewBox:e?"-4 -4 8 8":"-3.5 -3.5 8 8",preserveAspectRatio:"xMidYMid slice"});return e&&t.appendChild($n()),t.appendChild(O("g")),t}function ka(i,e,t){let a=$("coords",e),n;return i.forEach((r,o)=>{let s=o%2===(t==="white"?0:1);n=$("coord",`coord-${s?"light":"dark"}`),n.textContent=r,a.appendChild(n)}),a}function ur(i,e){if(!i.dropmode.active)return;ne(i),re(i);let t=i.dropmode.piece;if(t){i.pieces.set("a0",t);let a=ue(e),n=a&&ee(a,L(i),i.dom.bounds());n&&rt(i,"a0",n)}i.dom.redraw()}function pr(i,e){let t=i.dom.elements.board;if("ResizeObserver"in window&&new ResizeObserver(e).observe(i.dom.elements.wrap),(i.disableContextMenu||i.drawable.enabled)&&t.addEventListener("contextmenu",n=>n.preventDefault()),i.viewOnly)return;let a=qs(i);t.addEventListener("touchstart",a,{passive:!1}),t.addEventListener("mousedown",a,{passive:!1})}function fr(i,e){let t=[];if("ResizeObserver"in window||t.push(Gi(document.body,"chessground.resize",e)),!i.viewOnly){let a=mr(i,Hn,Kn),n=mr(i,jn,Nn);for(let o of["touchmove","mousemove"])t.push(Gi(document,o,a));for(let o of["touchend","mouseup"])t.push(Gi(document,o,n));let r=()=>i.dom.bounds.clear();t.push(Gi(document,"scroll",r,{capture:!0,passive:!0})),t.push(Gi(window,"resize",r,{passive:!0}))}return()=>t.forEach(a=>a())}function Gi(i,e,t,a){return i.addEventListener(e,t,a),()=>i.removeEventListener(e,t,a)}var qs=i=>e=>{i.draggable.current?Ie(i):i.drawable.current?fa(i):e.shiftKey||it(e)?i.drawable.enabled&&Ln(i,e):i.viewOnly||(i.dropmode.active?ur(i,e):Fn(i,e))},mr=(i,e,t)=>a=>{i.drawable.current?i.drawable.enabled&&t(i,a):i.viewOnly||e(i,a)};function gr(i){let e=L(i),t=Ke(i.dom.bounds()),a=i.dom.elements.board,n=i.pieces,r=i.animation.current,o=r?r.plan.anims:new Map,s=r?r.plan.fadings:new Map,c=i.draggable.current,h=new Set,u=new Map,m=Js(i),f=new Map,g,b,B,G,S,z,_,F,x;for(b=a.firstChild;b;){if(g=b.cgKey,Vr(b))if(B=n.get(g),S=o.get(g),z=s.get(g),G=b.cgPiece,b.cgDragging&&(!c||c.orig!==g)&&(b.classList.remove("dragging"),X(b,t(D(g),e)),b.cgDragging=!1),!z&&b.cgFading&&(b.cgFading=!1,b.classList.remove("fading")),B){if(S&&b.cgAnimating&&G===Ei(B)){let w=D(g);w[0]+=S[2],w[1]+=S[3],b.classList.add("anim"),X(b,t(w,e))}else b.cgAnimating&&(b.cgAnimating=!1,b.classList.remove("anim"),X(b,t(D(g),e)),i.addPieceZIndex&&(b.style.zIndex=Aa(D(g),e)));G===Ei(B)&&(!z||!b.cgFading)?h.add(g):z&&G===Ei(z)?(b.classList.add("fading"),b.cgFading=!0):va(u,G,b)}else va(u,G,b);else if(Cr(b)){let w=b.className;m.get(g)===w?(Ce(b,!0),m.delete(g)):va(f,w,b)}b=b.nextSibling}for(let[w,We]of m){x=f.get(We)?.pop();let le=t(D(w),e);if(x)x.cgKey=w,i.jsHover&&(x.dataset.key=w),X(x,le),Ce(x,!0);else{let te=$("square",We);te.cgKey=w,i.jsHover&&(te.dataset.key=w),X(te,le),a.insertBefore(te,a.firstChild)}}for(let[,w]of f.entries())for(let We of w)Ce(We,!1);for(let[w,We]of n)if(S=o.get(w),!h.has(w))if(_=u.get(Ei(We)),F=_&&_.pop(),F){F.cgKey=w,F.cgFading&&(F.classList.remove("fading"),F.cgFading=!1);let le=D(w);i.addPieceZIndex&&(F.style.zIndex=Aa(le,e)),S&&(F.cgAnimating=!0,F.classList.add("anim"),le[0]+=S[2],le[1]+=S[3]),X(F,t(le,e))}else{let le=Ei(We),te=$("piece",le),Hi=D(w);te.cgPiece=le,te.cgKey=w,S&&(te.cgAnimating=!0,Hi[0]+=S[2],Hi[1]+=S[3]),X(te,t(Hi,e)),i.addPieceZIndex&&(te.style.zIndex=Aa(Hi,e)),a.appendChild(te)}for(let w of u.values())Zs(i,w)}function br(i){let e=L(i),t=Ke(i.dom.bounds()),a=i.dom.elements.board.firstChild;for(;a;)(Vr(a)&&!a.cgAnimating||Cr(a))&&X(a,t(D(a.cgKey),e)),a=a.nextSibling}function Da(i){let e=i.dom.elements.wrap.getBoundingClientRect(),t=i.dom.elements.container,a=e.height/e.width,n=Math.floor(e.width*window.devicePixelRatio/8)*8/window.devicePixelRatio,r=n*a;t.style.width=n+"px",t.style.height=r+"px",i.dom.bounds.clear(),i.addDimensionsCssVarsTo?.style.setProperty("---cg-width",n+"px"),i.addDimensionsCssVarsTo?.style.setProperty("---cg-height",r+"px")}var Vr=i=>i.tagName==="PIECE",Cr=i=>i.tagName==="SQUARE";function Zs(i,e){for(let t of e)i.dom.elements.board.removeChild(t)}function Aa(i,e){let a=i[1];return`${e?10-a:3+a}`}var Ei=i=>`${i.color} ${i.role}`,Us=(i,e)=>i.lastMove?.[1]&&!i.pieces.has(i.lastMove[1])&&i.lastMove[0][0]==="e"&&["h","a"].includes(i.lastMove[1][0])&&i.lastMove[0][1]===i.lastMove[1][1]&&Cn(...D(i.lastMove[0]),...D(i.lastMove[1])).some(t=>i.pieces.has(t))?(e>i.lastMove[0]?"g":"c")+e[1]:e;function Js(i){let e=new Map;if(i.lastMove&&i.highlight.lastMove)for(let[n,r]of i.lastMove.entries())ve(e,n===1?Us(i,r):r,"last-move");if(i.check&&i.highlight.check&&ve(e,i.check,"check"),i.selected&&(ve(e,i.selected,"selected"),i.movable.showDests)){for(let n of i.movable.dests?.get(i.selected)??[])ve(e,n,"move-dest"+(i.pieces.has(n)?" oc":""));for(let n of i.premovable.customDests?.get(i.selected)??i.premovable.dests??[])ve(e,n,"premove-dest"+(i.pieces.has(n)?" oc":""))}let t=i.premovable.current;if(t)for(let n of t)ve(e,n,"current-premove");else i.predroppable.current&&ve(e,i.predroppable.current.key,"current-premove");let a=i.exploding;if(a)for(let n of a.keys)ve(e,n,"exploding"+a.stage);return i.highlight.custom&&i.highlight.custom.forEach((n,r)=>{ve(e,r,n)}),e}function ve(i,e,t){let a=i.get(e);a?i.set(e,`${a} ${t}`):i.set(e,t)}function va(i,e,t){let a=i.get(e);a?a.push(t):i.set(e,[t])}function kr(i,e,t){let a=new Map,n=[];for(let s of i)a.set(s.hash,!1);let r=e.firstElementChild,o;for(;r;)o=r.getAttribute("cgHash"),a.has(o)?a.set(o,!0):n.push(r),r=r.nextElementSibling;for(let s of n)e.removeChild(s);for(let s of i)a.get(s.hash)||e.appendChild(t(s))}function Ar(i,e){let a=i.drawable.autoShapes.filter(n=>n.piece).map(n=>({shape:n,hash:Ys(n),current:!1,pendingErase:!1}));kr(a,e,n=>Qs(i,n,i.dom.bounds()))}function vr(i){let e=L(i),t=Ke(i.dom.bounds()),a=i.dom.elements.autoPieces?.firstChild;for(;a;)ia(a,t(D(a.cgKey),e),a.cgScale),a=a.nextSibling}function Qs(i,{shape:e,hash:t},a){let n=e.orig,r=e.piece?.role,o=e.piece?.color,s=e.piece?.scale,c=$("piece",`${r} ${o}`);return c.setAttribute("cgHash",t),c.cgKey=n,c.cgScale=s,ia(c,Ke(a)(D(n),L(i)),s),c}var Ys=i=>[i.orig,i.piece?.role,i.piece?.color,i.piece?.scale].join(",");function ut(i,e){let t=Jn();lt(t,e||{});function a(){let n="dom"in t?t.dom.unbind:void 0,r=dr(i,t),o=ea(()=>r.board.getBoundingClientRect()),s=u=>{gr(h),r.autoPieces&&Ar(h,r.autoPieces),!u&&r.shapes&&er(h,r)},c=()=>{Da(h),br(h),r.autoPieces&&vr(h)},h=t;return h.dom={elements:r,bounds:o,redraw:$s(s),redrawNow:s,unbind:n},h.drawable.prevSvgHash="",Da(h),s(!1),pr(h,c),n||(h.dom.unbind=fr(h,c)),h.events.insert?.(r),h}return Un(a(),a)}function $s(i){let e=!1;return()=>{e||(e=!0,requestAnimationFrame(()=>{i(),e=!1}))}}var Dr=(i,e)=>{let t=new Map,a=i.ctx();for(let[n,r]of i.allDests(a))if(r.nonEmpty()){let o=Array.from(r,T);!e?.chess960&&n===a.king&&P(n)===4&&(r.has(0)?o.push("c1"):r.has(56)&&o.push("c8"),r.has(7)?o.push("g1"):r.has(63)&&o.push("g8")),t.set(T(n),o)}return t};function wr(i,e,t){for(let[a,n]of Object.entries(e))n===void 0||n===!1||i.setAttribute(a,n===!0?"":String(n));i.append(...t)}function d(i,e={},...t){let a=document.createElement(i);return wr(a,e,t),a}function E(i,e={},...t){let a=document.createElementNS("http://www.w3.org/2000/svg",i);return wr(a,e,t),a}function v(i,e,t={}){let a=d("button",{type:"button",...t},i);return a.addEventListener("click",e),a}function k(i){let e=document.getElementById(i);if(!e)throw new Error(`#${i} is missing`);return e}function M(i,e){return d("label",{},d("span",{},i),e)}function ui(i,e){let t=()=>[...i.querySelectorAll("button")],a=t().findIndex(n=>n.matches(":focus-visible"));i.replaceChildren(...e),a>=0&&t()[a]?.focus({preventScroll:!0})}function qe(i,e,t){let a=URL.createObjectURL(new Blob([t],{type:e}));d("a",{href:a,download:i}).click(),setTimeout(()=>URL.revokeObjectURL(a),1e3)}var el=["queen","knight","rook","bishop"],il={white:["♕","♘","♖","♗"],black:["♛","♞","♜","♝"]};function yr(i,e){let t=k("question");return new Promise(a=>{let n=null,r=e.map(({label:o,value:s,attributes:c})=>v(o,()=>{n=s,t.close()},c));t.replaceChildren(d("h2",{id:"question-title"},i),d("div",{class:"row"},...r)),t.addEventListener("close",()=>a(n),{once:!0}),t.showModal()})}function Sr(i){let e=el.map((t,a)=>({label:il[i][a]??"",value:t,attributes:{class:"figure","aria-label":l.pieces[t]}}));return yr(l.promotion,e)}async function wa(i,e){let t=[{label:e,value:!0,attributes:{class:"primary",id:"yes"}},{label:l.cancel,value:!1,attributes:{id:"no"}}];return await yr(i,t)===!0}function me({score:i,wdl:e}){return e?(e[0]+e[1]/2)/1e3:i.win_probability}function Ne(i,e){let t=me(i);return e==="white"?t:1-t}function _e(i,e){let t=e==="white"?1:-1;if(i.mate!==void 0){let n=i.mate===0?"":String(Math.abs(i.mate));return`#${i.mate>0==(e==="white")?"":"-"}${n}`}let a=t*(i.cp??0)/100;return`${a<0?"−":"+"}${Math.abs(a).toFixed(2)}`}function Ze(i,e){return e==="white"?i:[i[2],i[1],i[0]]}function mi(i){let[e,t,a]=i.map(n=>Math.round(n/10));return l.wdl(e,t,a)}function oe(i){return l.percent(l.number(100*i,1))}function ya(i){return l.number(100*i,1)}function Sa(i){return i>=1e9?`${(i/1e9).toFixed(1)}G`:i>=1e6?`${(i/1e6).toFixed(1)}M`:i>=1e3?`${(i/1e3).toFixed(1)}k`:String(i)}var mt=class{constructor(e){this.onMove=e;let t=!window.matchMedia("(prefers-reduced-motion: reduce)").matches;this.board=ut(this.frame,{coordinates:!0,animation:{enabled:t,duration:150},movable:{free:!1,events:{after:(a,n)=>{this.moved(a,n)}}},events:{change:()=>this.state?.editing?.moved(this.board.getFen())},drawable:{enabled:!0,defaultSnapToValidMove:!0}}),new ResizeObserver(()=>this.board.redrawAll()).observe(this.frame);for(let a of["mousedown","touchstart"])this.frame.addEventListener(a,n=>this.press(n),{capture:!0,passive:!1});this.frame.addEventListener("keydown",a=>this.onKey(a))}onMove;board;frame=k("board");bar=k("evaluation");state=null;get orientation(){return this.board.state.orientation}flip(e=y(this.orientation)){this.board.set({orientation:e}),this.bar.classList.toggle("flipped",e==="black")}grab=(e,t,a)=>{this.board.dragNewPiece(e,t,!0);let n=t.type==="touchstart"?"touchend":"mouseup";document.addEventListener(n,r=>a(this.squareAt(r)!==void 0),{capture:!0,once:!0})};show(e){let{node:t,movable:a,editing:n}=e,r=this.state;if(this.state=e,n!==(r?.editing??null)&&this.beginOrEnd(n),this.showEvaluation(e.evaluation&&!n?t:null),n){this.board.set({fen:n.pieces,check:!1,lastMove:[],movable:{free:!0,color:"both",dests:new Map},premovable:{enabled:!1},highlight:{custom:new Map([[T(n.cursor),"cursor"]])}}),this.board.setAutoShapes([]);return}let o=a==="both"?t.turn:a,s=t.position;this.board.set({fen:t.fen,turnColor:t.turn,check:s.isCheck()?t.turn:!1,movable:{free:!1,color:a==="none"?void 0:o,dests:a==="none"||o!==t.turn?new Map:Dr(s)},premovable:{enabled:e.premove},lastMove:t.lastMove??[]}),(r?.node!==t||r.editing)&&(this.board.setShapes([]),this.frame.setAttribute("aria-label",tl(t))),this.board.setAutoShapes(e.arrows),e.premove&&a===t.turn&&this.board.playPremove()}beginOrEnd(e){this.board.selectSquare(null),this.board.set({autoCastle:!e,draggable:{deleteOnDropOff:!!e},highlight:{custom:new Map}}),this.frame.setAttribute("role",e?"application":"img"),e?(this.frame.setAttribute("aria-label",l.editorBoard),this.frame.tabIndex=0):this.frame.removeAttribute("tabindex")}squareAt(e){let t="changedTouches"in e?e.changedTouches[0]:e,a=t&&this.board.getKeyAtDomPos([t.clientX,t.clientY]);return a&&Q(a)}press(e){let t=this.state?.editing;if(!t||"button"in e&&e.button!==0)return;let a=this.squareAt(e);a===void 0||!t.press(a)||(e.preventDefault(),e.stopPropagation())}onKey(e){let t=this.state?.editing;if(!(!t||e.ctrlKey||e.altKey||e.metaKey)){if(e.key==="Enter"||e.key===" ")t.press(t.cursor)||this.board.selectSquare(T(t.cursor));else if(!t.onKey(e.key,this.orientation))return;e.preventDefault()}}showEvaluation(e){let t=e;for(;t?.parent&&!t.evaluated;)t=t.parent;let a=t?.evaluated?Ne(t.evaluated,t.turn):.5;this.bar.style.setProperty("--white",a.toFixed(4));let n=e?.evaluated,r=e&&n?_e(n.score,e.turn):"";k("evaluation-text").textContent=r;let o=e&&n?.wdl?mi(Ze(n.wdl,e.turn)):"";this.bar.setAttribute("aria-label",l.evaluation(r||"–",o)),this.bar.title=l.evaluation(r||"–",o)}async moved(e,t){let a=this.state;if(!a||a.editing)return;let[n,r]=[Q(e),Q(t)];if(n===void 0||r===void 0)return;let o=a.node.position,s=o.board.get(n)?.role==="pawn",c=T(r)[1],h={from:n,to:r};if(s&&(c==="1"||c==="8")){let u=await Sr(o.turn);if(!u){this.show(a);return}h.promotion=u}this.onMove(h),this.state===a&&this.show(a)}};function tl(i){let e=i.position.board,t=a=>[...R].reverse().flatMap(n=>[...e.pieces(a,n)].map(r=>`${l.pieces[n]} ${T(r)}`)).join(", ");return`${l.described(t("white"),t("black"))} ${l.toMove(l.side[i.turn])}`}var Br={run:()=>{},stop:()=>{},runs:()=>!1,isOpen:()=>!1},pi=class{constructor(e,t,a,n){this.link=e;this.onConnection=t;this.onWelcome=a;this.onFault=n}link;onConnection;onWelcome;onFault;running=null;lastId=0;connect(){let e=t=>{this.onConnection(t),t==="open"&&this.running&&this.send(this.running)};this.link.open(e,t=>this.hear(t))}isOpen(){return this.link.isOpen()}run(e,t,a){this.lastId+=1,this.running={id:this.lastId,line:e,task:t,listener:a},this.isOpen()&&this.send(this.running)}stop(){this.running&&(this.running=null,this.isOpen()&&this.link.send({type:"stop"}))}runs(e){return this.running?.task.name===e}send({id:e,line:t,task:a}){this.link.send({type:"run",id:e,...t,task:a})}hear(e){if(e.type==="welcome"){this.onWelcome(e);return}if(e.id===null){this.onFault(e.message);return}let t=this.running;!t||t.id!==e.id||((e.type==="ended"||e.type==="error")&&(this.running=null),t.listener(e))}};function Gr(i,e){document.addEventListener("click",t=>{t.detail>0&&t.target.closest("button, summary")?.blur()}),document.addEventListener("keydown",t=>{if(t.ctrlKey||t.altKey||t.metaKey||t.isComposing)return;let a=t.target;if(a.closest('input, select, textarea, dialog, [role="tablist"], [role="application"]'))return;let n=t.key;a.closest("button, summary")&&(n==="Enter"||n===" ")||al(i,e,n,t.shiftKey)&&t.preventDefault()})}function al(i,e,t,a){let n=i.panel().editing?.()?null:nl(i.current,t,a);if(n)return i.go(n),i.announce(n.parent?`${n.number} ${n.san}`:l.start),!0;if(i.panel().onKey?.(t))return!0;let r=i.tabs[Number(t)-1];if(t==="f")e.flip();else if(t==="?")e.help();else if(t==="Enter")e.typeMove();else if(t==="a")e.toggleArrows();else if(r&&/^[1-5]$/.test(t))i.openTab(r);else return!1;return!0}function nl(i,e,t){switch(e){case"ArrowLeft":case"k":return t?rl(i):i.parent??i;case"ArrowRight":case"j":return t?ol(i):i.children[0]??i;case"ArrowUp":case"Home":case"0":return i.root();case"ArrowDown":case"End":case"$":return i.last();default:return null}}function rl(i){let e=i;for(;e.parent;){let t=e.parent.children[0]!==e;if(e=e.parent,t||e.children.length>1)break}return e}function ol(i){let e=i;for(;e.children[0]&&(e=e.children[0],!(e.children.length>1)););return e}var U={theme:null,squares:"brown",sound:!0,...W("look")},Ga={theme:{isOn:()=>(U.theme??(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light"))==="dark",turn:()=>U.theme=Ga.theme.isOn()?"light":"dark"},squares:{isOn:()=>U.squares==="blue",turn:()=>U.squares=U.squares==="blue"?"brown":"blue"},sound:{isOn:()=>U.sound,turn:()=>U.sound=!U.sound}};function Er(){let{dataset:i}=document.documentElement,e=()=>{U.theme&&(i.theme=U.theme),i.squares=U.squares;for(let[t,{isOn:a}]of Object.entries(Ga))k(t).setAttribute("aria-pressed",String(a()))};for(let[t,{turn:a}]of Object.entries(Ga)){let n=k(t);n.title=l.switches[t],n.setAttribute("aria-label",n.title),n.addEventListener("click",()=>{a(),j("look",U),e()})}e(),sl()}function sl(){let i=k("language"),e=Object.entries(Ye).map(([t,a])=>d("option",{value:t,lang:t,"aria-label":a.language},t.toUpperCase()));i.append(...e),i.value=document.documentElement.lang=Ot,i.title=l.languageChoice,i.setAttribute("aria-label",i.title),i.addEventListener("change",()=>{j("language",i.value),location.reload()})}var ll=null,cl={move:[440],capture:[330],end:[440,330]},Ba=.12;function Ea(i){if(!U.sound||!navigator.userActivation.hasBeenActive)return;let e=ll??=new AudioContext;cl[i].forEach((t,a)=>{let[n,r]=[e.createOscillator(),e.createGain()],o=e.currentTime+a*Ba;n.type="triangle",n.frequency.value=t,r.gain.setValueAtTime(.4,o),r.gain.exponentialRampToValueAtTime(.001,o+Ba),n.connect(r).connect(e.destination),n.start(o),n.stop(o+Ba)})}var Mr=`# https://github.com/lichess-org/chess-openings 51b886249b9e, CC0 1.0
=Alekhine Defense
ZmlnNx B02
hfAcaZ B02 Brooklyn Variation
Wqf5Qy B02 Brooklyn Variation, Everglades Variation
JSHkxr B02 Buckley Attack
6US7NQ B02 Hunt Variation, Lasker Simul Gambit
YU9g6C B02 Hunt Variation, Matsukevich Gambit
BvtXmn B02 Hunt Variation, Mikenas Gambit
AxoM_G B02 Kmoch Variation
ZCWVN6 B02 Krejcik Variation
mrC5RQ B02 Krejcik Variation, Krejcik Gambit
o3hynS B02 Maróczy Variation
hdJsPH B02 Mokele Mbembe
HdSuda B02 Mokele Mbembe, Modern Line
2G0_DW B02 Mokele Mbembe, Vavra Defense
lYh9-l B02 Normal Variation
fruoqU B02 Scandinavian Variation
05Z3y7 B02 Scandinavian Variation, Geschev Gambit
zuqd-X B02 Scandinavian Variation, Myers Gambit
PBnjLG B02 Spielmann Gambit
zzeoZg B02 Steiner Variation
zhFnZs B02 Sämisch Attack
dw5k9w B02 The Squirrel
XxhHd0 B02 Two Pawns Attack
ezFsbM B02 Two Pawns Attack, Lasker Variation
rCvr1h B02 Two Pawns Attack, Mikenas Variation
ek9__C B02 Two Pawns Attack, Tate Variation
SoZ_dZ B02 Welling Variation
av0mBr B03
Sc8VZz B03
DghyAv B03
3dIi9P B03 Balogh Variation
a2xsAn B03 Exchange Variation
CKOI5m B03 Exchange Variation, Karpov Variation
Af9iNp B03 Exchange Variation, Voronezh Variation
Lnzw5I B03 Four Pawns Attack
Ju6uiF B03 Four Pawns Attack, Cambridge Gambit
-iTl-o B03 Four Pawns Attack, Fianchetto Variation
3F8e6V B03 Four Pawns Attack, Ilyin-Zhenevsky Variation
TDAHaa B03 Four Pawns Attack, Korchnoi Variation
pxIuJC B03 Four Pawns Attack, Main Line
dGVvte B03 Four Pawns Attack, Tartakower Variation
HTk-SO B03 Four Pawns Attack, Trifunovic Variation
WUGCvx B03 Hunt Variation
2A9_-8 B03 Modern Variation, Alekhine Gambit
0rLpRk B03 O'Sullivan Gambit
KtMfwv B04 Modern Variation
NqQey6 B04 Modern Variation, Alburt Variation
XTZx8R B04 Modern Variation, Keres Variation
Z0s8NN B04 Modern Variation, Larsen Variation
ZX4QXZ B04 Modern Variation, Larsen-Haakert Variation
jFRJWL B04 Modern Variation, Schmid Variation
4SCXkp B05 Modern Variation, Alekhine Variation
zIBYo7 B05 Modern Variation, Flohr Variation
N90Vbl B05 Modern Variation, Main Line
Z387sp B05 Modern Variation, Panov Variation
o398yt B05 Modern Variation, Vitolins Attack
=Amar Opening
A0xf4U A00
5mSyoj A00 Paris Gambit
w2pVsJ A00 Paris Gambit, Gent Gambit
=Amazon Attack
HKNeJC A45 Siberian Attack
mz6UaE D00
=Amsterdam Attack
kNiQKa A00
=Anderssen's Opening
5MK8c- A00
W7j-Zd A00 Polish Gambit
=Australian Defense
RB6AVa A40
=Barnes Defense
DnIuSY B00
=Barnes Opening
CBXA93 A00
cHv5K- A00 Fool's Mate
JlpOZW A00 Gedult Gambit
hkR7v7 A00 Gedult Gambit
a27tU6 A00 Hammerschlag
z1nFJf C20 Walkerling
=Basque Opening
MolOFv A45
=Benko Gambit
IOtW87 A57
Ni8Oqx A57 Mutkin Countergambit
0CGAg4 A57 Nescafe Frappe Attack
9ARoza A57 Zaitsev System
eiI8aD A57 Zaitsev Variation, Nescafe Frappe Attack
Gb-dUV A58 Fianchetto Variation
dOPtcZ A58 Nd2 Variation
Vr6Jcc A59
=Benko Gambit Accepted
pec80C A57
65YsTN A57 Dlugy Variation
sPFTqc A57 Modern Variation
j_He_4 A57 Pawn Return Variation
SwFN5M A58 Central Storming Variation
xLrere A58 Fianchetto Variation
jF5dWe A58 Fully Accepted Variation
k_1Wat A59 King Walk Variation
AkffxX A59 Yugoslav
O5Q0EU A59 Yugoslav
=Benko Gambit Declined
quZxCe A57 Bishop Attack
R5qxHb A57 Hjørring Countergambit
Dp5Wdn A57 Main Line
Ltd2wI A57 Pseudo-Sämisch
3Tpmhu A57 Quiet Line
IJzIZB A57 Sosonko Variation
=Benoni Defense
HbYZ5S A40 Franco-Sicilian Hybrid
gsl5Az A43 Benoni Gambit Accepted
NFKANp A43 Benoni Gambit, Schlenker Defense
7Aabyo A43 Benoni-Indian Defense
dDxUQY A43 Benoni-Indian Defense, Kingside Move Order
qCn6uu A43 Benoni-Staunton Gambit
Jdaue1 A43 Cormorant Gambit
ale8-q A43 French Benoni
nzPLeB A43 Hawk Variation
cCYAhV A43 Old Benoni
dO3cTt A43 Old Benoni
KtAoeg A43 Old Benoni
ChBhgY A43 Old Benoni, Mujannah Formation
IxcilA A43 Old Benoni, Schmid Variation
yi6gcd A43 Snail Variation
8RwzZK A43 Woozle
HLAReq A43 Zilbermints-Benoni Gambit
C9SqrJ A43 Zilbermints-Benoni Gambit
i1lSc_ A43 Zilbermints-Benoni Gambit, Tamarkin Countergambit
94Xgyy A44 Old Benoni
SR8mbQ A44 Semi-Benoni
0vhBnG A56
o12xpy A56 Czech Benoni Defense
GzKkSu A56 Hromádka System
QkGS7B A56 King's Indian System
HEhpcS A56 Weenink Variation
MQXriS A60 Modern Variation
4wRXlA A60 Modern Variation, Snake Variation
9WmHJA A61
EhJf4v A61 Fianchetto Variation
oHUSLT A61 Knight's Tour Variation
_E6Mm8 A61 Uhlmann Variation
p8GI9w A62 Fianchetto Variation
sFm7ca A63 Fianchetto Variation, Hastings Defense
xZmf9k A64 Fianchetto Variation, Hastings Defense, Main Line
OfAnPi A65 King's Pawn Line
NT6CRK A65 King's Pawn Line
tHWPQt A65 King's Pawn Line
IsXQlQ A65 King's Pawn Line, with Be3
VN0SZY A65 King's Pawn Line, with Bg5
-6QjfV A65 King's Pawn Line, with Bg5
U0-FzC A65 King's Pawn Line, with Bg5
4UbS58 A65 King's Pawn Line, with Nge2
X38cKB A65 King's Pawn Line, with Nge2
KgA46E A66 Mikenas Variation
jYjPCB A66 Pawn Storm Variation
k_uaNb A67 Taimanov Variation
lJy1of A68 Four Pawns Attack
QH35Gi A69 Four Pawns Attack, Main Line
ngcCJV A70 Classical Variation
bJZDi5 A70 Classical Variation, New York Variation
Zd6Cg5 A70 Classical Variation, Traditional Variation
whJS_f A71 Classical Variation, Averbakh-Grivas Attack
jLtoNd A72 Classical Variation
xmWc4b A73 Classical Variation, Main Line
5uKaiE A74 Classical Variation, Full Line
pbILD4 A75 Classical Variation, Argentine Counterattack
Jxs9L7 A76 Classical Variation, Czerniak Defense
LOBVZF A77 Classical Variation, Czerniak Defense, Tal Line
PUx6fP A78 Classical Variation, Czerniak Defense
2RAfva A79 Classical Variation, Czerniak Defense
=Bird Opening
5U2dP_ A02
jKrzl4 A02 Batavo-Polish Attack
yTL1wn A02 Double Duck Formation
6s4hAo A02 From's Gambit
1ife4x A02 From's Gambit, Bahr Gambit
ImoNw- A02 From's Gambit, Langheld Gambit
0Olc9- A02 From's Gambit, Lasker Variation
HlEq3s A02 From's Gambit, Lipke Variation
rzuYkt A02 Hobbs Gambit
GBpzq9 A02 Hobbs-Zilbermints Gambit
BHsmQI A02 Horsefly Defense
R5u28p A02 Lasker Gambit
B277Tl A02 Mujannah
DAoO1s A02 Myers Defense
RogOr7 A02 Platz Gambit
-i_-WY A02 Schlechter Gambit
-Q6umE A02 Siegener Gambit
dFzZcW A02 Swiss Gambit
K6Szki A02 Wagner-Zwitersch Gambit
dWXknR A03 Dutch Variation
T0PF52 A03 Dutch Variation, Dudweiler Gambit
NJiHKt A03 Lasker Variation
rGvgD1 A03 Sturm Gambit
PTbn1s A03 Thomas Gambit
r_03IV A03 Williams Gambit
RpSjE- A03 Williams Gambit
vDV-IC A03 Williams-Zilbermints Gambit
KziXHl B21 Dutch Variation, Batavo Gambit
=Bishop's Opening
RrJ706 C23
PienIg C23 Anderssen Gambit
qzcO2f C23 Boi Variation
GMAjQ0 C23 Calabrese Countergambit
0wgi61 C23 Calabrese Countergambit, Jaenisch Variation
BIO8C4 C23 Four Pawns Gambit
em0NZZ C23 Khan Gambit
8e4d7z C23 Lewis Countergambit
BMyk6a C23 Lewis Countergambit
s6Mt8r C23 Lewis Countergambit, Walker Variation
09Q2Pw C23 Lewis Gambit
Dw-Htk C23 Lisitsyn Variation
lbGE_K C23 Lopez Gambit
uMHBiy C23 Lopez Variation
siMo1G C23 Lopez Variation, Lopez Gambit
EZo2oe C23 McDonnell Gambit
Ux6cAj C23 McDonnell Gambit, La Bourdonnais-Denker Gambit
SSrYzF C23 McDonnell Gambit, McDonnell Double Gambit
1OWY5Z C23 Philidor Counterattack
RGkJHu C23 Philidor Variation
mrYCVs C23 Pratt Variation
1gzKit C23 Stein Gambit
txh4vp C23 Thorold Gambit
8rhwG5 C23 del Rio Variation
H-7KCZ C24 Berlin Defense
OK5iLl C24 Berlin Defense, Greco Gambit
0JbfQJ C24 Kitchener Folly
oHzmbm C24 Krejcik Gambit
9Mi0WN C24 Pachman Gambit
fu36xt C24 Paulsen Defense
M4LXxT C24 Ponziani Gambit
GxX-c_ C24 Urusov Gambit, Panov Variation
LjDe4s C24 Vienna Hybrid
rwmBzD C24 Warsaw Gambit
gDFsOB C26 Horwitz Gambit
iA2o1y C26 Vienna Hybrid, Spielmann Attack
mp2iRp C27 Boden-Kieseritzky Gambit
EF6EPz C27 Boden-Kieseritzky Gambit, Lichtenhein Defense
SWjQ3e C28 Vienna Hybrid, Hromádka Variation
A-grHD C43 Urusov Gambit
HgyOaM C43 Urusov Gambit, Keidansky Gambit
=Blackmar-Diemer Gambit
uTuySZ D00
Fk4aNR D00
oCtkdJ D00 Blackmar Gambit
cwid-V D00 Diemer-Rosenberg Attack
dZlxpe D00 Fritz Attack
CqcY_P D00 Lemberger Countergambit
f7AWLF D00 Lemberger Countergambit, Endgame Variation
SXCbTs D00 Lemberger Countergambit, Lange Gambit
XPqXZs D00 Lemberger Countergambit, Rasmussen Attack
5pv6pO D00 Lemberger Countergambit, Sneiders Attack
wZj_q0 D00 Lemberger Countergambit, Soller Attack
TcTfW3 D00 Netherlands Variation
JL_T3V D00 Rasa-Studier Gambit
_Bc2ZI D00 Reversed Albin Countergambit
iCBtrG D00 Zeller Defense
rDRlnA D00 Zeller Defense, Soller Attack
SpQwRG D00 von Popiel Gambit
e3lKEf D00 von Popiel Gambit, Zilbermints Variation
=Blackmar-Diemer Gambit Accepted
RkZZ0h D00
Mtl22l D00 Bogoljubow Defense
TbVSy- D00 Bogoljubow Defense, Kloss Attack
LAogxV D00 Bogoljubow Defense, Mad Dog Attack
I3uM0R D00 Bogoljubow Defense, Nimzowitsch Attack
Rf4sIz D00 Bogoljubow Defense, Studier Attack
CJwvdE D00 Euwe Defense
UuxGqc D00 Euwe Defense, Duthilleul Gambit
m_lS6t D00 Euwe Defense, Zilbermints Gambit
4S8xqB D00 Gunderam Defense
tuGw2- D00 Gunderam Defense, Stader Variation
t4QHPp D00 Holwell Defense
uW3Ok_ D00 Kaulich Defense
Etyhe7 D00 Pietrowsky Defense
zOPtWg D00 Ritter Defense
SNbp4o D00 Ryder Gambit
QgDEKE D00 Schlutter Defense
4irL3g D00 Teichmann Defense
zrrTIv D00 Teichmann Defense, Ciesielski Variation
42RMML D00 Teichmann Defense, Classical Variation
4LakdO D00 Teichmann Defense, Seidel-Hall Attack
WwodAr D00 Ziegler Defense
=Blackmar-Diemer Gambit Declined
dBdohg D00 Brombacher Countergambit
bAjPcK D00 Elbert Countergambit
B1phEU D00 Gedult Defense
-rXQxi D00 Lamb Defense
rRuVnW D00 Langeheinicke Defense
hkDe4V D00 O'Kelly Defense
ROTcUW D00 Vienna Defense
WdhNgC D00 Weinsbach Defense
Vn_Tee D00 Weinsbach Defense, Pfrang Gambit
=Blumenfeld Countergambit
H9thhH E10
o_wH2b E10 Duz-Khotimirsky Variation
ppN1pJ E10 Spielmann Variation
=Blumenfeld Countergambit Accepted
RF0Zca E10
=Bogo-Indian Defense
I-eynq E11
IAX5Vx E11 Exchange Variation
xsSWuh E11 Grünfeld Variation
0-9Q3p E11 Haiti Variation
xjId60 E11 Monticelli Trap
3O0I1P E11 New England Variation
vHfiU9 E11 Nimzowitsch Variation
h09nni E11 Retreat Variation
zAoENW E11 Retreat Variation
b4ITYq E11 Retreat Variation
aAeoQ2 E11 Retreat Variation
gPPKML E11 Retreat Variation
k0dpEn E11 Retreat Variation
BZ9L0X E11 Retreat Variation
arFwx6 E11 Retreat Variation
CP--Bg E11 Retreat Variation
0dEz2R E11 Retreat Variation
Ip9E8L E11 Retreat Variation
8TuSE7 E11 Retreat Variation
_ys7wL E11 Vitolins Variation
l7rK0R E11 Wade-Smyslov Variation
=Bongcloud Attack
3HC_U8 C20
=Borg Defense
J43pu9 A40 Borg Gambit
dqlamA B00
3yQLG9 B00 Borg Gambit
9TR9uh B00 Troon Gambit
J6WfDM B00 Zilbermints Gambit
=Canard Opening
A7o7sG A45
=Caro-Kann Defense
XEd8-b B10
q8j9oz B10
l3RK5B B10
U6ZaKv B10 Accelerated Panov Attack
eO7_-w B10 Accelerated Panov Attack
KoQttq B10 Accelerated Panov Attack, Modern Variation
Xfa6Zt B10 Accelerated Panov Attack, Open Variation
m-n53v B10 Accelerated Panov Attack, Pseudo-Scandinavian
tyb2ng B10 Accelerated Panov Attack, Van Weersel Attack
73ZFWI B10 Apocalypse Attack
nHRxj1 B10 Breyer Variation
aQwrCp B10 Breyer Variation, Stein Attack
1Dz_AI B10 Dinic Gambit
eoNmKY B10 Endgame Offer
9OlnrS B10 Endgame Variation
rijJIl B10 Euwe Attack
M4XO0o B10 Goldman Variation
gX2Z1I B10 Hector Gambit
9OdYmW B10 Hillbilly Attack
i_LXvN B10 Hillbilly Attack, Schaeffer Gambit
fwsABU B10 Labahn Attack
jlVJTy B10 Labahn Attack, Double Gambit
afuePi B10 Labahn Attack, Polish Variation
vA6adT B10 Scorpion-Horus Gambit
hOZjNO B10 Spike Variation
Aqxj8D B10 Spike Variation, Scorpion-Grob Gambit
7CI2Hn B10 St. Patrick's Attack
hoa8Xq B10 Toikkanen Gambit
RL1nF9 B10 Two Knights Attack
iy1nNY B11 Two Knights Attack, Mindeno Variation
Jmj5e3 B11 Two Knights Attack, Mindeno Variation, Exchange Line
p3HAbl B11 Two Knights Attack, Mindeno Variation, Retreat Line
jN8qef B12
WeXhJs B12
3uq1Df B12 Advance Variation
RwUhyS B12 Advance Variation, Bayonet Attack
xakCeH B12 Advance Variation, Botvinnik-Carls Defense
WxSPz9 B12 Advance Variation, Bronstein Variation
0t3EqJ B12 Advance Variation, Prins Attack
9UUEic B12 Advance Variation, Short Variation
Qc7nd- B12 Advance Variation, Tal Variation
_VK8Sp B12 Advance Variation, Van der Wiel Attack
IAL91h B12 Advance Variation, Van der Wiel Attack
f8S8Zh B12 Advance Variation, Van der Wiel Attack, Dreyev Defense
9PxdcK B12 Advance, Short Variation
AeZdZI B12 De Bruycker Defense
D-KYFu B12 De Bruycker Defense
5QyIFe B12 Edinburgh Variation
jlvBTW B12 Maróczy Variation
1YteFy B12 Maróczy Variation, Maróczy Gambit
3b6uug B12 Masi Variation
Gv80F5 B12 Massachusetts Defense
Af3jNb B12 Mieses Attack, Landau Gambit
ttXRbE B12 Mieses Gambit
77TM0g B12 Modern Variation
_VWbPo B12 Ulysses Gambit
EygUrh B13 Exchange Variation
cHObm1 B13 Exchange Variation
_6eGDB B13 Exchange Variation
GIUkGS B13 Exchange Variation
J2s9wh B13 Exchange Variation, Bulla Attack
bQT8Ix B13 Exchange Variation, Rubinstein Variation
lBOUa0 B13 Panov Attack
5exAW4 B13 Panov Attack
CPp1MW B13 Panov Attack, Gunderam Attack
cD2xJt B13 Panov Attack, Modern Defense
rdTUdJ B13 Panov Attack, Modern Defense, Carlsbad Line
uy281v B13 Panov Attack, Modern Defense, Czerniak Line
cNq102 B13 Panov Attack, Modern Defense, Mieses Line
l3Y6sa B13 Panov Attack, Modern Defense, Reifir-Spielmann Line
gBbgE- B13 Panov-Botvinnik, Herzog Defense
8Ptw_D B14 Panov Attack
87kUF- B14 Panov Attack
lD7fO_ B14 Panov Attack
aPjEHG B14 Panov Attack
W2Ddxt B14 Panov Attack, Fianchetto Defense
e3aOFj B14 Panov Attack, Fianchetto Defense, Fianchetto Gambit
lQ0bKl B14 Panov Attack, Main Line
BIQ2aB B15
mlU_xk B15
f7evSb B15 Alekhine Gambit
13FJRP B15 Alien Gambit
_XQVJx B15 Campomanes Attack
LzBCpZ B15 Forgacs Variation
XfALaZ B15 Gurgenidze Counterattack
eli3po B15 Gurgenidze System
6ERYna B15 Main Line
abA_CG B15 Rasa-Studier Gambit
bYuAlV B15 Tartakower Variation
qiuLbJ B15 Tartakower Variation, Perlis Line
G5g19k B15 von Hennig Gambit
zlMlaP B16 Bronstein-Larsen Variation
HYAOiM B16 Finnish Variation
qqENSc B17 Karpov Variation
6JAHkE B17 Karpov Variation, Modern Main Line
EA7y0m B17 Karpov Variation, Modern Variation
nO5XG7 B17 Karpov Variation, Modern Variation, Ivanchuk Defense
hkQ8GS B17 Karpov Variation, Modern Variation, Kasparov Attack
EGdlUK B17 Karpov Variation, Smyslov Variation
CZK1K- B17 Karpov Variation, Smyslov Variation, Main Line
VaTLwG B17 Karpov Variation, Tiviakov-Fischer Attack
ca3NVc B18 Classical Variation
yqL_ZK B18 Classical Variation, Flohr Variation
zb0a_0 B18 Classical Variation, Main Line
g7O1Qx B18 Classical Variation, Maróczy Attack
aI-xap B18 Martian Gambit
vZM-WS B19 Classical Variation
y0qVwb B19 Classical Variation, Lobron System
0kQpA7 B19 Classical Variation, Seirawan Variation
kogaLn B19 Classical Variation, Spassky Variation
=Carr Defense
2tTVRT B00
7RKYs5 B00 Zilbermints Gambit
=Catalan Opening
fXUR15 E00
hC39xL E00
JcjXh- E00 Hungarian Gambit
43LatR E01 Open Defense
imGL0D E01 Tarrasch Defense
PT0HXE E02 Open Defense
q18sj8 E03 Open Defense
qVgGf_ E03 Open Defense, Alekhine Variation
AXFBYt E04 Open Defense
TbGdQh E04 Open Defense
A82ge4 E04 Open Defense, Modern Sharp Variation
Q44YyA E05 Open Defense, Classical Line
yRV1OS E05 Open Defense, Classical Line
1fUL5P E06 Closed
yw71NJ E06 Closed
rGfUdI E06 Closed
itxr-J E06 Closed
Vzi0aE E07 Closed
8xNm1R E07 Closed, Botvinnik Variation
PA05d5 E08 Closed
qvlFh5 E08 Closed
wUPgFB E08 Closed
YL4kL_ E08 Closed
U1X_Hp E08 Closed
Ld92JA E08 Closed, Spassky Gambit
UrBNW9 E08 Closed, Zagoryansky Variation
IWlRKc E09 Closed Variation, Rabinovich Variation
dcLXBG E09 Closed Variation, Traditional Variation
s67_9d E09 Closed, Main Line
KFFGYA E09 Closed, Main Line
tOhcry E09 Closed, Main Line
4kvESR E09 Closed, Sokolsky Variation
=Center Game
q0JPu8 C20
JeDJHI C21
7kQ0R9 C21 Halasz-McDonnell Gambit
TMrxrt C21 Halasz-McDonnell Gambit, Crocodile Variation
lx993n C21 Kieseritzky Variation
kgEGDc C21 Kieseritzky Variation
BlSqxf C21 Kieseritzky Variation
2kIpdD C21 Lanc-Arnold Gambit
nVQKq5 C21 Lanc-Arnold Gambit, Schippler Gambit
VqQYVO C21 Ross Gambit
YCQm8_ C21 von der Lasa Gambit
t_H6st C22 Berger Variation
ijKUgs C22 Charousek Variation
dhJhKp C22 Hall Variation
WAGT26 C22 Kupreichik Variation
QJmItf C22 Normal Variation
GaAlE1 C22 Paulsen Attack Variation
A03nfT C22 l'Hermet Variation
=Center Game Accepted
uLHR4u C21
=Clemenz Opening
vGSmsx A00
b_oxLW A00 Spike Lee Gambit
=Colle System
3C3WMo A04 Rhamphorhynchus Variation
ShyXU- A40 Pterodactyl Variation
FmgUCi A40 Siroccopteryx Variation
=Creepy Crawly Formation
Qbc8Wr A00 Classical Defense
=Czech Defense
cxncYD B07
=Danish Gambit
mfZBuA C21
=Danish Gambit Accepted
xHDYiD C21
s-0OV5 C21 Chigorin Defense
IKFY_K C21 Classical Defense
U31_BU C21 Copenhagen Defense
Rrc1ZS C21 Schlechter Defense
gqjS8E C21 Svenonius Defense
=Danish Gambit Declined
g8f0i- C21 Sörensen Defense
=Dresden Opening
ABf1hm C44 The Goblin
=Duras Gambit
-Y61Bw B00
=Dutch Defense
N423tv A80
vUtFjg A80 Alapin Variation
8Tbim2 A80 Barcza Variation
Vuzw2b A80 Hevendehl Gambit
pJNO0w A80 Hopton Attack
Ps92um A80 Janzen-Korchnoi Gambit
HWa-Lw A80 Kingfisher Gambit
TnoqPm A80 Korchnoi Attack
vOMhUJ A80 Krejcik Gambit
A3ctQg A80 Krejcik Gambit, Tate Gambit
A4K6GX A80 Manhattan Gambit, Anti-Classical Line
80H2eA A80 Manhattan Gambit, Anti-Leningrad
2fehkn A80 Manhattan Gambit, Anti-Modern
tLthL7 A80 Manhattan Gambit, Anti-Stonewall
mAPWet A80 Omega-Isis Gambit
QB8ys_ A80 Raphael Variation
oYuLps A80 Senechaud Gambit
zkci67 A80 Spielmann Gambit
w-vVI4 A81 Blackburne Variation
ceKE8o A81 Fianchetto Attack
d2gkM4 A81 Leningrad Variation, Carlsbad Variation
hc9Yr_ A81 Leningrad, Basman System
nNkzgo A81 Semi-Leningrad Variation
qP5RlX A82 Blackmar's Second Gambit
YpZXBR A82 Staunton Gambit
9Ss_JZ A82 Staunton Gambit Accepted
jOdb4v A82 Staunton Gambit, American Attack
Y2-oN3 A82 Staunton Gambit, Tartakower Variation
18_eyb A83 Staunton Gambit
FyWvCe A83 Staunton Gambit, Alekhine Variation
NEceXW A83 Staunton Gambit, Chigorin Variation
algdOF A83 Staunton Gambit, Lasker Variation
AIuLHM A83 Staunton Gambit, Nimzowitsch Variation
JH5-JE A84
wJFOgn A84 Bellon Gambit
d4_83U A84 Bladel Variation
BL0Pro A84 Classical Variation
YHirQH A84 Krause Variation
yBHpoY A84 Normal Variation
mCEV9W A84 Rubinstein Variation
MLZaEb A85 Queen's Knight Variation
7fN1QP A86 Fianchetto Variation
Y98nrs A86 Hort-Antoshin System
K0qfkx A86 Leningrad Variation
9Sj83G A87 Leningrad Variation
3uv1wR A88 Leningrad Variation, Warsaw Variation
kufD2y A89 Leningrad Variation, Matulovic Variation
fiUryz A90 Classical Variation
ruGVsJ A90 Classical Variation
l2D3PE A90 Nimzo-Dutch Variation
1mJY7L A90 Nimzo-Dutch Variation, Alekhine Variation
GGfXLG A90 Stonewall Variation, Modern Variation
yc8AFd A91 Classical Variation
4Ebn82 A91 Classical Variation, Blackburne Attack
_o1rGA A92 Alekhine Variation
j90niB A92 Classical Variation
c8xeNF A92 Stonewall Variation
HetOTQ A92 Stonewall Variation
j_-wAh A93 Stonewall Variation, Botvinnik Variation
elULa_ A94 Stonewall Variation
NzzE5L A95 Stonewall Variation
nGV-Lo A95 Stonewall Variation, Chekhover Variation
qZ86Ay A96 Classical Variation
qYPvJS A96 Classical Variation, Buenos Aires Variation
rm6HBa A96 Classical Variation, Huisl Variation
EMIoa6 A97 Classical Variation, Ilyin-Zhenevsky Variation
aO47YU A97 Classical Variation, Ilyin-Zhenevsky Variation, Winter Variation
FulVWH A98 Classical Variation, Ilyin-Zhenevsky Variation, Alatortsev-Lisitsyn Line
nckUeO A99 Classical Variation, Ilyin-Zhenevsky Variation, Modern Main Line
=Döry Defense
1GcPHF A46
=East Indian Defense
dvzeal A48
=Elephant Gambit
SL-gp6 C40
KN7MVF C40 Maróczy Gambit
D2YvK5 C40 Paulsen Countergambit
VGuk1M C40 Wasp Variation
=English Defense
pGU79z A40
i4m3Ju A40
344cfY A40 Eastbourne Gambit
cJupIT A40 Hartlaub Gambit Accepted
5sb5xa A40 Hartlaub Gambit Declined
n6iCwQ A40 Perrin Variation
Q5Jzk1 A40 Poli Gambit
=English Opening
yYcU5K A10
ugO4C4 A10 Achilles-Omega Gambit
NGDtaf A10 Adorjan Defense
ZQKoW7 A10 Anglo-Dutch Defense
ekGJoV A10 Anglo-Dutch Defense, Hickmann Gambit
qZW4hp A10 Anglo-Dutch Variation, Chabanon Gambit
2_Odmi A10 Anglo-Dutch Variation, Ferenc Gambit
I4Jvpj A10 Anglo-Lithuanian Variation
ZlzspR A10 Anglo-Scandinavian Defense
isI9hU A10 Anglo-Scandinavian Defense, Löhn Gambit
Z30le- A10 Anglo-Scandinavian Defense, Malvinas Variation
bRierR A10 Anglo-Scandinavian Defense, Schulz Gambit
-o4B_v A10 Great Snake Variation
KLTZBe A10 Jaenisch Gambit
HSGqF0 A10 King's English Variation, Botvinnik System, Prickly Pawn Pass System
NZm64s A10 Myers Defense
IpR77p A10 Myers Gambit
3lxhR_ A10 Porcupine Variation
91minY A10 Wade Gambit
63Kr-l A10 Zilbermints Gambit
HrwNZa A11 Caro-Kann Defensive System
oUxRLg A13 Agincourt Defense
bX1HQo A13 Agincourt Defense
SC9GJY A13 Agincourt Defense
SNOvMA A13 Agincourt Defense
3tm5Ay A13 Agincourt Defense
TpOtsT A13 Agincourt Defense, Bogoljubow Defense
ZUu9-2 A13 Agincourt Defense, Catalan Defense
IJhVtp A13 Agincourt Defense, Catalan Defense
L3kGUF A13 Agincourt Defense, Catalan Defense Accepted
o-qCh6 A13 Agincourt Defense, Catalan Defense, Semi-Slav Defense
-N7rL6 A13 Agincourt Defense, Kurajica Defense
YoQLGB A13 Agincourt Defense, Tarrasch Defense
qTT9fT A13 Agincourt Defense, Wimpy System
nXp2xs A13 Neo-Catalan
WEcEef A13 Neo-Catalan Declined
v2pWfK A13 Romanishin Gambit
oKnXOD A14 Agincourt Defense, Keres Defense
eeDLQ9 A14 Agincourt Defense, Neo-Catalan Declined
RN5OvK A14 Agincourt Defense, Neo-Catalan Declined
47p8L7 A14 Agincourt Defense, Neo-Catalan Declined
buUok_ A14 Agincourt Defense, Neo-Catalan Declined
sU1GqM A14 Agincourt Defense, Neo-Catalan Declined
W-Fo2z A14 Agincourt Defense, Neo-Catalan Declined
At1ZZi A14 Agincourt Defense, Neo-Catalan Declined, Early b3
hE4jpv A14 Agincourt Defense, Neo-Catalan Declined, Early b3
A_PeXz A14 Agincourt Defense, Neo-Catalan Declined, Early b3
HDTRRb A15 Anglo-Indian Defense
VMe1Mr A15 Anglo-Indian Defense, Anti-Anti-Grünfeld
DCuNES A15 Anglo-Indian Defense, Grünfeld Formation
ePD1pl A15 Anglo-Indian Defense, King's Indian Formation
F0JGVt A15 Anglo-Indian Defense, King's Indian Formation, Double Fianchetto
2jlzH9 A15 Anglo-Indian Defense, King's Knight Variation
n4s-zR A15 Anglo-Indian Defense, Old Indian Formation
iEqQu5 A15 Anglo-Indian Defense, Queen's Indian Formation
TfYx5Q A15 Anglo-Indian Defense, Queen's Indian Formation
rHadWD A15 Anglo-Indian Defense, Romanishin Variation
xCc_8z A15 Anglo-Indian Defense, Scandinavian Defense
uBf_3h A15 Anglo-Indian Defense, Scandinavian Defense, Exchange Variation
NFbd0- A15 Anglo-Indian Defense, Slav Formation
75mi5T A16 Anglo-Grünfeld Defense
T017VN A16 Anglo-Grünfeld Defense, Korchnoi Variation
7Vi6kX A16 Anglo-Indian Defense, Anglo-Grünfeld Variation
iG6ph2 A16 Anglo-Indian Defense, Anglo-Grünfeld Variation
iQnLZI A16 Anglo-Indian Defense, Anglo-Grünfeld Variation
EdUXb5 A16 Anglo-Indian Defense, Anglo-Grünfeld Variation
kWbdqn A16 Anglo-Indian Defense, Queen's Knight Variation
I9ZEQf A17 Anglo-Indian Defense
1zs3YE A17 Anglo-Indian Defense, Hedgehog System
imWL3_ A17 Anglo-Indian Defense, Nimzo-English
CgAGYg A17 Anglo-Indian Defense, Queen's Indian Formation
16h_sP A17 Anglo-Indian Defense, Queen's Indian Variation
gTJWJ4 A17 Anglo-Indian Defense, Zvjaginsev-Krasenkow Attack
z6Mr4Z A18 Mikenas-Carls Variation
BIdqML A18 Mikenas-Carls Variation
AScQ64 A18 Mikenas-Carls Variation
PkcwEl A19 Anglo-Indian Defense, Flohr-Mikenas-Carls Variation, Nei Gambit
sZG_dz A19 Mikenas-Carls, Sicilian
gmBWEK A20 Drill Variation
y1HzKG A20 King's English Variation
jALcCm A20 King's English Variation, Kahiko-Hula Gambit
rDXqTP A20 King's English Variation, Nimzowitsch Variation
wLBI6L A20 King's English Variation, Nimzowitsch-Flohr Variation
APUApd A21 King's English Variation
5BjAIb A21 King's English Variation, Keres Defense
gSdgsa A21 King's English Variation, Kramnik-Shirov Counterattack
KXsqSC A21 King's English Variation, Reversed Sicilian
TCXpF7 A21 King's English Variation, Smyslov Defense
K01gFs A21 King's English Variation, Troger Defense
G71cIB A22 Carls-Bremen System
nosI7j A22 King's English Variation, Adhiban Gambit
AqJpIa A22 King's English Variation, Bellon Gambit
jgm2iz A22 King's English Variation, Two Knights Variation
dbD6X8 A22 King's English Variation, Two Knights Variation, Reversed Dragon
480R42 A22 King's English Variation, Two Knights Variation, Smyslov System
SmC0nM A22 King's English, Erbenheimer Gambit
q5weRI A22 King's English, Mazedonisch
A3x8uo A23 King's English Variation, Two Knights Variation, Keres Variation
f8g0vg A23 King's English Variation, Two Knights Variation, Keres Variation
7hikM4 A24 King's English Variation, Two Knights Variation, Fianchetto Line
ooLvsR A25 Closed, Taimanov Variation
uPuIVm A25 Closed, Taimanov Variation
aVi22q A25 King's English Variation, Bremen-Hort Variation
Z4jwmT A25 King's English Variation, Closed System
ZNewEk A25 King's English Variation, Hungarian Attack
LrqS88 A25 King's English Variation, Reversed Closed Sicilian
SQmkps A25 King's English Variation, Reversed Closed Sicilian
IqvQHo A25 King's English Variation, Reversed Closed Sicilian
aJqsh2 A25 King's English Variation, Reversed Closed Sicilian
m26kD6 A25 King's English Variation, Reversed Closed Sicilian
zptD46 A25 King's English Variation, Taimanov Variation
iv9WA6 A26 King's English Variation, Botvinnik System
afDSEC A26 King's English Variation, Closed System, Full Symmetry
5juh0e A27 King's English Variation, Three Knights System
wATPEU A28 Four Knights System, Nimzowitsch Variation
WHy9Yb A28 King's English Variation, Four Knights Variation
2KwBof A28 King's English Variation, Four Knights Variation
UPYiSj A28 King's English Variation, Four Knights Variation, Bradley Beach Variation
Vmn2xi A28 King's English Variation, Four Knights Variation, Flexible Line
WxsmVL A28 King's English Variation, Four Knights Variation, Korchnoi Line
L-hS_p A28 King's English Variation, Four Knights Variation, Quiet Line
f1Zvtw A28 King's English Variation, Four Knights Variation, Quiet Line
F1Uev- A28 King's English Variation, Four Knights Variation, Quiet Line
yUanCb A29 King's English Variation, Four Knights Variation, Fianchetto Line
nUvRfB A29 King's English Variation, Four Knights Variation, Fianchetto Line
lgP8Rc A29 King's English Variation, Four Knights Variation, Fianchetto Line
hsb10r A29 King's English Variation, Four Knights Variation, Fianchetto Line
nO9YWy A29 King's English Variation, Four Knights Variation, Fianchetto Line
9plzky A29 King's English Variation, Four Knights Variation, Fianchetto Line
ha2cIM A29 King's English Variation, Four Knights Variation, Fianchetto Line, Delayed .. Nc6
hV38e9 A29 King's English Variation, Four Knights Variation, Fianchetto Line, with .. d6
EqO72W A29 King's English Variation, Four Knights Variation, Fianchetto Line, with .. d6
Tkn7_c A29 King's English Variation, Four Knights Variation, Fianchetto Line, with .. d6, Be7
2INzFs A29 King's English Variation, Four Knights Variation, Fianchetto Line, with .. d6, a6
o11WWc A29 King's English Variation, Four Knights Variation, Fianchetto Line, with .. d6, h6
ixwMs8 A29 King's English Variation, Four Knights Variation, Fianchetto Line, with Bc5
lINkn1 A29 King's English Variation, Four Knights Variation, Fianchetto Line, with Nb6
_J_jvy A30 Symmetrical Variation
UmQ3S_ A30 Symmetrical Variation
T-_HpO A30 Symmetrical Variation, Hedgehog Defense
bTuRjB A30 Symmetrical Variation, Napolitano Gambit
Pdlxxk A30 Symmetrical, Hedgehog, Flexible Formation
4ZCnYA A30 Wing Gambit
lNfNhb A31 Symmetrical Variation, Anti-Benoni Variation
xLcVPe A32 Symmetrical Variation, Anti-Benoni Variation, Spielmann Defense
n5up6e A33 Symmetrical Variation, Anti-Benoni Variation, Geller Variation
c4b8eP A33 Symmetrical Variation, Anti-Benoni Variation, Spielmann Defense
hcHanj A34 Symmetrical Variation
rnjE7a A34 Symmetrical Variation, Fianchetto Variation
nlGndn A34 Symmetrical Variation, Normal Variation
sq2Czt A34 Symmetrical Variation, Rubinstein Variation
0lmnw8 A34 Symmetrical Variation, Rubinstein Variation
1ht3CV A34 Symmetrical Variation, Three Knights Variation
RvzQrf A35 Symmetrical Variation
Cc79-w A35 Symmetrical Variation, Four Knights Variation
EBBI1g A35 Symmetrical Variation, Four Knights Variation, Keres-Parma System
gLC4vL A35 Symmetrical Variation, Two Knights Variation
LYOOxw A36 Symmetrical Variation, Botvinnik System
ExG3R8 A36 Symmetrical Variation, Botvinnik System Reversed, with e3
c8nq7V A36 Symmetrical Variation, Two Knights, Fianchetto Variation
xZ4bGw A36 Symmetrical Variation, Ultra-Symmetrical Variation
PuophY A37 Symmetrical Variation, Botvinnik System Reversed, with Nf3
J2hxAM A37 Symmetrical Variation, Botvinnik System Reversed, with Nf3
OOiF3z A37 Symmetrical Variation, Botvinnik System Reversed, with Nf3
WF9ibk A37 Symmetrical Variation, Botvinnik System Reversed, with Nf3
qWUZ0x A37 Symmetrical Variation, Botvinnik System Reversed, with Nf3
NPpcNQ A37 Symmetrical Variation, Botvinnik System Reversed, with Nf3
mOmxAO A37 Symmetrical Variation, Three Knights, Fianchetto Variation
f3YWHz A37 Symmetrical Variation, Three Knights, Fianchetto Variation
q81KHg A37 Symmetrical Variation, Three Knights, Fianchetto Variation
l_eUkL A38 Symmetrical Variation, Double Fianchetto
qr4_lK A38 Symmetrical Variation, Duchamp Variation
AdJVp8 A38 Symmetrical Variation, Full Symmetry Line
YUd-oS A39 Symmetrical Variation, Mecking Variation
9AnceW C20 The Whale
=English Orangutan
bKe52i A15
zKR6rO A15
=Englund Gambit
PGZBbA A40
RQvkma A40 Felbecker Gambit
feFM4a A40 Hartlaub-Charlick Gambit
neXZpF A40 Main Line
0J0yLi A40 Mosquito Gambit
uRjD54 A40 Soller Gambit
WJb7Rn A40 Soller Gambit Deferred
IqepSZ A40 Stockholm Variation
hhiyTx A40 Zilbermints Gambit
=Englund Gambit Declined
T9Uf1g A40
FrVii1 A40 Diemer Counterattack
Rn7hY- A40 Reversed Alekhine
UqQGb6 A40 Reversed Brooklyn
e7XY2_ A40 Reversed French
KwdFEf A40 Reversed Krebs
OuQwF0 A40 Reversed Mokele Mbembe
=Formation
COnmQ2 A00 Hippopotamus Attack
-BzLTC A00 Shy Attack
=Four Knights Game
70NvQ9 C47
SdjwrD C47 Glek System
WN1Jdp C47 Glek System
l3aAnP C47 Gunsberg Variation
cqScs_ C47 Gunsberg Variation, Provincial Opening
NdJhcB C47 Halloween Gambit
RzH_Df C47 Halloween Gambit, Oldtimer Variation
mrXy7r C47 Halloween Gambit, Plasma Variation
bfgB_2 C47 Italian Variation
mqBZXk C47 Italian Variation, Noa Gambit
p-oVMn C47 Naroditsky Variation
mQKRAc C47 Scotch Variation
tIViYq C47 Scotch Variation Accepted
SCX5gJ C47 Scotch Variation Accepted, Main Line
45k-3A C47 Scotch Variation, Belgrade Gambit
Yr6pBB C47 Scotch Variation, Belgrade Gambit, Modern Defense
97ywnc C47 Scotch Variation, Krause Gambit
xx5jnE C47 Scotch Variation, Krause Gambit, Leonhardt Defense
Z-ckYg C47 Scotch Variation, Oxford Gambit
T8Dybz C47 Scotch Variation, Schmid Defense
G57Ogi C48 Spanish Variation
IBZTd2 C48 Spanish Variation, Bardeleben Variation
s0OHXx C48 Spanish Variation, Classical Variation
j6hZ-R C48 Spanish Variation, Ranken Variation
nXeroJ C48 Spanish Variation, Rubinstein Variation
aoisPY C48 Spanish Variation, Rubinstein Variation
ctLzEq C48 Spanish Variation, Rubinstein Variation
d9q_fj C48 Spanish Variation, Rubinstein Variation Accepted
bOzT6k C48 Spanish Variation, Rubinstein Variation, Henneberger Variation
VwKFgO C48 Spanish Variation, Rubinstein Variation, Marshall Gambit
dkmb00 C48 Spanish Variation, Rubinstein Variation, Marshall Variation
1uuVSg C48 Spanish Variation, Rubinstein Variation, Maróczy Variation
0pLWip C48 Spanish Variation, Spielmann Variation
x_NLWE C49 Spanish Variation
PAUmHP C49 Spanish Variation, Alatortsev Variation
t7RrvR C49 Spanish Variation, Double Spanish
dg9XNi C49 Spanish Variation, Double Spanish
uscQS9 C49 Spanish Variation, Gunsberg Counterattack
Cqkeuh C49 Spanish Variation, Janowski Variation
U8gVbT C49 Spanish Variation, Nimzowitsch Variation
g6sT2_ C49 Spanish Variation, Svenonius Variation
bP6Tt0 C49 Spanish Variation, Symmetrical Variation
L13cRm C49 Spanish Variation, Symmetrical Variation
mi5EXC C49 Spanish Variation, Symmetrical Variation
GE-QDe C49 Spanish Variation, Symmetrical Variation
CQgH29 C49 Spanish Variation, Symmetrical Variation, Blake Variation
BsJPdI C49 Spanish Variation, Symmetrical Variation, Metger Unpin
xa8Ent C49 Spanish Variation, Symmetrical Variation, Tarrasch Variation
wwgx5A C50 Italian Variation
=French Defense
YHyBgK C00
4h3UO6 C00
98UtMZ C00 Alapin Gambit
w8MCjo C00 Baeuerle Gambit
c8a0o3 C00 Banzai-Leong Gambit
ARbff_ C00 Banzai-Leong Gambit, Pinova Gambit
JqtKlp C00 Bird Invitation
VBjvCt C00 Carlson Gambit
Ix3Xy9 C00 Chigorin Variation
1ol_zH C00 Diemer-Duhm Gambit
DDci5G C00 Diemer-Duhm Gambit Accepted
yEy_7r C00 Franco-Hiva Gambit
VgBmWk C00 Franco-Hiva Gambit Accepted
hVenr2 C00 Franco-Sicilian Defense
yP6cDT C00 Hoffmann Gambit
ztwBha C00 Horwitz Attack
McNHoZ C00 Horwitz Attack, Papa-Ticulat Gambit
yyfLAF C00 King's Indian Attack
E8we50 C00 King's Indian Attack, Franco-Hiva Gambit
trRbLb C00 Knight Variation
Cb1li5 C00 Knight Variation, Franco-Hiva Gambit
-yS7mN C00 La Bourdonnais Variation
O6laRo C00 La Bourdonnais Variation, Reuter Gambit
ZuURcU C00 Mediterranean Defense
xsR855 C00 Morphy Gambit
ivGoEg C00 Normal Variation
czKqC8 C00 Orthoschnapp Gambit
1OqWgW C00 Pelikan Variation
yTsELf C00 Perseus Gambit
nOU_Va C00 Queen's Knight
9T7kuB C00 Reversed Philidor Formation
AvVLLA C00 Réti-Spielmann Attack
DjnYqo C00 Schlechter Variation
F7ZGKw C00 St. George Defense
CilMu5 C00 St. George Defense, Sanky-George Gambit
SC-1dl C00 St. George Defense, St. George Gambit
ilkqx7 C00 St. George Defense, Three Pawn Attack
leu2WI C00 St. George Defense, Traditional Line
tzZ9Fe C00 Steiner Variation
Pqx_XY C00 Steinitz Attack
rMNVDb C00 Two Knights Variation
v4V9t6 C00 Wing Gambit
ij5ev9 C01 Exchange Variation
_chRik C01 Exchange Variation
kDEBN- C01 Exchange Variation
S26Fk9 C01 Exchange Variation, Bogoljubow Variation
SSj4Sm C01 Exchange Variation, Monte Carlo Variation
UK7zSp C01 Exchange Variation, Svenonius Variation
d9cOei C02 Advance Variation
fgCfhc C02 Advance Variation
z2b2WN C02 Advance Variation
NpF8wU C02 Advance Variation
F3z_n3 C02 Advance Variation, Euwe Variation
GC3m7L C02 Advance Variation, Extended Bishop Swap
E9I-3u C02 Advance Variation, Frenkel Gambit
PAlGlC C02 Advance Variation, Kupreichik Variation
hQjEJS C02 Advance Variation, Lputian Variation
VHvom1 C02 Advance Variation, Main Line
DPtx50 C02 Advance Variation, Milner-Barry Gambit
_nClXp C02 Advance Variation, Milner-Barry Gambit, Hector Variation
sE71m4 C02 Advance Variation, Milner-Barry Gambit, Hector Variation
T2-ACb C02 Advance Variation, Milner-Barry Gambit, Main Line
4eTdMn C02 Advance Variation, Milner-Barry Gambit, Sørensen Variation
rURqg1 C02 Advance Variation, Nimzowitsch Attack
rtR3C_ C02 Advance Variation, Nimzowitsch Gambit
QLxPkd C02 Advance Variation, Nimzowitsch System
Q4okwf C02 Advance Variation, Paulsen Attack
N8Ghfw C02 Advance Variation, Ruisdonk Gambit
OX3-E9 C02 Advance Variation, Steinitz Variation
OSWx1Q C02 Advance Variation, Wade Variation
nL2Cs- C03 Tarrasch Variation
pjVWim C03 Tarrasch Variation, Guimard Defense
MK-x-b C03 Tarrasch Variation, Guimard Defense, Thunderbunny Variation
fuwjCD C03 Tarrasch Variation, Haberditz Variation
JYEwTb C03 Tarrasch Variation, Modern System
TYjPiO C03 Tarrasch Variation, Morozevich Variation
DXND9o C04 Tarrasch Variation, Guimard Defense, Main Line
yuoy_j C05 Tarrasch Variation, Botvinnik Variation
2WJXk3 C05 Tarrasch Variation, Closed Variation
N04M7o C05 Tarrasch Variation, Closed Variation
HJnbfM C05 Tarrasch Variation, Pawn Center Variation
Hyibd9 C06 Tarrasch Variation, Closed Variation, Main Line
j4djW5 C06 Tarrasch Variation, Leningrad Variation
RJhU9s C07 Tarrasch Variation, Chistyakov Defense
KNphRb C07 Tarrasch Variation, Chistyakov Defense, Modern Line
qynIFM C07 Tarrasch Variation, Eliskases Variation
00KenP C07 Tarrasch Variation, Open System
N8Ywta C07 Tarrasch Variation, Open System, Euwe-Keres Line
2ScdjH C07 Tarrasch Variation, Open System, Shaposhnikov Gambit
pzrpsn C07 Tarrasch Variation, Open System, Süchting Line
9KWgVS C08 Tarrasch Variation, Open System
lX9p2i C08 Tarrasch Variation, Open System, Advance Line
yhbXre C09 Tarrasch Variation, Open System, Main Line
dRHfpm C09 Tarrasch Variation, Open System, Main Line
8MGhq_ C10 Hecht-Reefschläger Variation
z0Cozg C10 Marshall Gambit
4mjVam C10 Paulsen Variation
a40G7I C10 Rubinstein Variation
B7kpvR C10 Rubinstein Variation, Blackburne Defense
4pJ4lv C10 Rubinstein Variation, Capablanca Line
8hDfFU C10 Rubinstein Variation, Ellis Gambit
qUgQS0 C10 Rubinstein Variation, Fort Knox Variation
KSJcH4 C10 Rubinstein Variation, Kasparov Attack
YcnV0u C10 Rubinstein Variation, Maric Variation
etY6Ku C11 Classical Variation
XpZ-BZ C11 Classical Variation
9JqD_u C11 Classical Variation, Burn Variation
XDkBSE C11 Classical Variation, Burn Variation, Main Line
tlCqLu C11 Classical Variation, Burn Variation, Morozevich Line
zMPm7G C11 Classical Variation, Delayed Exchange Variation
HWsGVV C11 Classical Variation, Shirov-Anand Variation
lqIBLZ C11 Classical Variation, Steinitz Variation
WIDZqm C11 Classical Variation, Swiss Variation
fS6kC1 C11 Henneberger Variation
mQe5cc C11 Steinitz Variation
NfBWs- C11 Steinitz Variation
KHOJQN C11 Steinitz Variation
ndPkLm C11 Steinitz Variation
PRs_QP C11 Steinitz Variation
_n1Eey C11 Steinitz Variation, Boleslavsky Variation
Cafsax C11 Steinitz Variation, Bradford Attack Variation
Ozepq2 C11 Steinitz Variation, Brodsky-Jones Variation
2XbQ1M C11 Steinitz Variation, Gledhill Attack
ZN6iJy C12 McCutcheon Variation
GTj7F_ C12 McCutcheon Variation, Advance Variation
LA0MFN C12 McCutcheon Variation, Bernstein Variation
vKCOpc C12 McCutcheon Variation, Bogoljubow Variation
_nzHmT C12 McCutcheon Variation, Chigorin Variation
2J4Ls1 C12 McCutcheon Variation, Dr. Olland Variation
nAvaRt C12 McCutcheon Variation, Duras Variation
CwLlWE C12 McCutcheon Variation, Exchange Variation
iSnMls C12 McCutcheon Variation, Grigoriev Variation
HxX2Wc C12 McCutcheon Variation, Janowski Variation
Osa8i0 C12 McCutcheon Variation, Lasker Variation
48Wy0M C12 McCutcheon Variation, Lasker Variation
qGohwu C12 McCutcheon Variation, Tartakower Variation
ozMtMN C13 Alekhine-Chatard Attack
UHRvJs C13 Alekhine-Chatard Attack, Albin-Chatard Gambit
oKGBxk C13 Alekhine-Chatard Attack, Breyer Variation
KrLTG7 C13 Alekhine-Chatard Attack, Maróczy Variation
oZLfWp C13 Alekhine-Chatard Attack, Spielmann Variation
2nwO5W C13 Alekhine-Chatard Attack, Teichmann Variation
IZkIru C13 Classical Variation
dRg_Zw C13 Classical Variation, Frankfurt Variation
AaEGT_ C13 Classical Variation, Normal Variation
eqDhhg C13 Classical Variation, Richter Attack
lTSvM_ C13 Classical Variation, Richter Attack
arzk71 C13 Classical Variation, Tartakower Variation
SGLdB3 C13 Classical Variation, Vistaneckis Variation
xKCYRx C14 Classical Variation
Y3R7gP C14 Classical Variation
B_R3X3 C14 Classical Variation, Alapin Variation
CHyRxp C14 Classical Variation, Pollock Variation
JaEmV0 C14 Classical Variation, Rubinstein Variation
7GoUjn C14 Classical Variation, Stahlberg Variation
UFZXxJ C14 Classical Variation, Steinitz Variation
COk4v4 C14 Classical Variation, Tarrasch Variation
D1OTuu C15 McCutcheon Variation, Wolf Gambit
B8KdTm C15 Winawer Variation
oH3cQc C15 Winawer Variation, Alekhine Gambit Accepted
3sy9ph C15 Winawer Variation, Alekhine Gambit, Alatortsev Variation
xstpu3 C15 Winawer Variation, Alekhine Gambit, Kan Variation
3Dzb4n C15 Winawer Variation, Alekhine-Maróczy Gambit
O6q6sA C15 Winawer Variation, Delayed Exchange Variation
QlPUor C15 Winawer Variation, Exchange Variation, Canal Attack
bjVpSV C15 Winawer Variation, Fingerslip Variation
WtV28N C15 Winawer Variation, Fingerslip Variation, Kunin Double Gambit
ymf7Lk C15 Winawer Variation, Fingerslip Variation, Main Line
PVIIO2 C15 Winawer Variation, Fingerslip Variation, Schwarz's Line
CvPiby C15 Winawer Variation, Kondratiyev Variation
qaSpr1 C15 Winawer Variation, Winckelmann-Reimer Gambit
fTkRvz C16 Winawer Variation, Advance Variation
OQE3ze C16 Winawer Variation, Petrosian Variation
8aaRiU C17 Winawer Variation, Advance Variation
0eQuEV C17 Winawer Variation, Advance Variation
YYggRp C17 Winawer Variation, Advance Variation
vFqpFE C17 Winawer Variation, Advance Variation, Moscow Variation
MPsyxs C17 Winawer Variation, Bogoljubow Variation
b9tP49 C17 Winawer Variation, Bogoljubow Variation, Icelandic Defense
5XTrtY C17 Winawer Variation, Maróczy-Wallis Variation
iTxzZA C17 Winawer Variation, Retreat Variation
ELnOcf C17 Winawer Variation, Retreat Variation, Armenian Line
bsYCLx C18 Winawer Variation, Advance Variation
7rKYAK C18 Winawer Variation, Advance Variation
Oz-uh7 C18 Winawer Variation, Advance Variation, with Bd3
REJwIl C18 Winawer Variation, Advance Variation, with Bd3
87j5e_ C18 Winawer Variation, Advance Variation, with h4
hK8xPo C18 Winawer Variation, Advance Variation, with h4
yRbRg6 C18 Winawer Variation, Classical Variation
Jnugld C18 Winawer Variation, Eingorn Variation
EXZ5-A C18 Winawer Variation, Poisoned Pawn Variation
ScvwTP C18 Winawer Variation, Poisoned Pawn Variation
8kGE10 C18 Winawer Variation, Poisoned Pawn Variation
PLK-YS C18 Winawer Variation, Poisoned Pawn Variation Declined
SJOiaj C18 Winawer Variation, Poisoned Pawn Variation, Main Line
JUpD41 C18 Winawer Variation, Poisoned Pawn Variation, Paoli Variation
hI_MVQ C18 Winawer Variation, Portisch-Hook Variation
tcCNBw C18 Winawer Variation, Warsaw Variation
1fcH1r C19 Winawer Variation, Advance Variation, Smyslov Variation
DJg5hX C19 Winawer Variation, Advance Variation, Smyslov Variation
zuKvyO C19 Winawer Variation, Positional Variation
3s3SNs C19 Winawer Variation, Positional Variation
ch2cBa C19 Winawer Variation, Positional Variation
CD2i_O C19 Winawer Variation, Positional Variation
mZt112 C19 Winawer Variation, Positional Variation
0wzO4F C19 Winawer Variation, Positional Variation
iB9JZx C19 Winawer Variation, Positional Variation
3oFXMs C19 Winawer Variation, Positional Variation
PAFMZz C19 Winawer Variation, Positional Variation
9FUHwV C19 Winawer Variation, Positional Variation
BpTPUB C19 Winawer Variation, Positional Variation
9S-Ha9 C19 Winawer Variation, Positional Variation
=Fried Fox Defense
MygjWl B00
=Global Opening
zKtEFg A00
=Goldsmith Defense
MvXazB B00
etMjB7 B00 Picklepuss Defense
=Grob Opening
uiZ92d A00
q5Sgm_ A00 Alessi Gambit
mkge0x A00 Double Grob
HDJAzv A00 Double Grob, Coca-Cola Gambit
0VrgO6 A00 Grob Gambit
d9qait A00 Grob Gambit Declined
xSKfx_ A00 Grob Gambit, Basman Gambit
oAvUCz A00 Grob Gambit, Fritz Gambit
GHGamc A00 Grob Gambit, Fritz Gambit, Romford Countergambit
MbF_CL A00 Grob Gambit, Keres Gambit
RNt0qA A00 Grob Gambit, Richter-Grob Gambit
wUrBGF A00 Keene Defense
Kc4l7x A00 Keene Defense, Main Line
k9aGUd A00 London Defense
iUwCBA A00 Romford Countergambit
YQmbvM A00 Spike Attack
etpoU5 A00 Spike, Hurst Attack
SjUwLy A00 Zilbermints Gambit
fI725E A00 Zilbermints Gambit, Schiller Defense
adNSmz A00 Zilbermints Gambit, Zilbermints-Hartlaub Gambit
=Grünfeld Defense
q7AyCz A56 Three Knights Variation, Burille Variation, Reversed Tarrasch
U9-qdr D80
CEPXze D80 Gibbon Gambit
aMpOKa D80 Lundin Variation
gPZH7B D80 Lutikov Variation
jCmH3i D80 Lutikov Variation, Murrey Attack
Ix1fA0 D80 Stockholm Variation
sq0_ja D80 Zaitsev Gambit
SqxxxE D81 Russian Variation, Accelerated Variation
m4kSVc D82 Brinckmann Attack
EKOQl3 D83 Brinckmann Attack, Grünfeld Gambit
Uz8eXW D83 Brinckmann Attack, Grünfeld Gambit, Botvinnik Variation
5giDoP D83 Brinckmann Attack, Grünfeld Gambit, Capablanca Variation
46uXLV D83 Brinckmann Attack, Reshevsky Gambit
gVDHHL D84 Brinckmann Attack, Grünfeld Gambit Accepted
TUEHFc D85 Exchange Variation
d17AfT D85 Exchange Variation, Modern Exchange Variation
wAdr5T D85 Exchange Variation, Modern Exchange Variation
7vi4-g D85 Exchange Variation, Modern Exchange Variation
AwqXYk D85 Exchange Variation, Modern Exchange Variation, Kramnik's Line
vEvNee D85 Exchange Variation, Modern Exchange Variation, Pawn Grab Line
12xRpq D85 Exchange Variation, Nadanian Attack
7T69cg D86 Exchange Variation, Classical Variation
wmAxwv D86 Exchange Variation, Larsen Variation
qYmq6e D86 Exchange Variation, Larsen Variation
dW6JXp D86 Exchange Variation, Simagin's Improved Variation
BRLNiD D86 Exchange Variation, Simagin's Lesser Variation
7oYVyl D87 Exchange Variation, Seville Variation
XEQwmK D87 Exchange Variation, Spassky Variation
Uz_kB2 D88 Exchange Variation, Spassky Variation
4UcVyy D89 Exchange Variation, Sokolsky Variation
C0Iu13 D89 Exchange Variation, Spassky Variation
LHJNrq D90 Flohr Variation
_cCvJQ D90 Three Knights Variation
EJ6Uca D90 Three Knights Variation
sgFAIo D91 Three Knights Variation, Petrosian System
9Cwiyr D92 Three Knights Variation, Hungarian Attack
bVq9rL D93 Three Knights Variation, Hungarian Variation
f0G4Sn D94 Flohr Defense
UQ_bxy D94 Makogonov Variation
uKE6W- D94 Opocensky Variation
QxbQXK D94 Smyslov Defense
q6UJsB D94 Three Knights Variation, Burille Variation
T2TWFt D94 Three Knights Variation, Paris Variation
2SVxBZ D95 Botvinnik Variation
LxZYxJ D95 Pachman Variation
7J1YYm D95 Three Knights Variation, Vienna Variation
UeRKDN D96 Russian Variation
aOYQoh D97 Russian Variation
oaXjm5 D97 Russian Variation, Byrne Variation
7BGI-1 D97 Russian Variation, Hungarian Variation
OnKR_Z D97 Russian Variation, Levenfish Variation
WRTeyI D97 Russian Variation, Prins Variation
9mgeXL D97 Russian Variation, Szabo Variation
55PHJq D98 Russian Variation, Keres Variation
9JGxqU D98 Russian Variation, Smyslov Variation
vMRI06 D99 Russian Variation, Smyslov Variation
PW_z_e D99 Russian Variation, Yugoslav Variation
WB59ie E60 Counterthrust Variation
=Gunderam Defense
qD2jyb C40
=Hippopotamus Defense
XkOOTG B00
on4enj B00
=Horwitz Defense
bQYDkv A40
yXf2Yd A40 Zilbermints Gambit
=Hungarian Opening
O70IJG A00
n6idP- A00 Asten Gambit
u4KvPO A00 Burk Gambit
xYt-eB A00 Bücker Gambit
DyQ0ff A00 Catalan Formation
Sj9-R3 A00 Dutch Defense
0LFiaD A00 Indian Defense
f8_W1U A00 Myers Defense
FjdEt2 A00 Pachman Gambit
E03hfk A00 Paris Gambit
RNW2jK A00 Reversed Alekhine
OxipkV A00 Reversed Brooklyn Defense, Brooklyn Benko Gambit
cbFk-F A00 Reversed Modern Defense
IjKUXa A00 Reversed Norwegian Defense
FGBMCC A00 Sicilian Invitation
dKNukt A00 Slav Formation
gqELW1 A00 Symmetrical Variation
Tv3GoA A00 Van Kuijk Gambit
GCJb1h A00 Winterberg Gambit
dXQp36 A07 Wiedenhagen-Beta Gambit
=Indian Defense
Pa1_r7 A43 Pseudo-Benko
B_zJr1 A45
XaJhWq A45 Accelerated London System
xGqE1f A45 Gedult Attack
HgMw8e A45 Gibbins-Weidenhagen Gambit
HMr8EH A45 Gibbins-Weidenhagen Gambit Accepted
GF1fSp A45 Gibbins-Weidenhagen Gambit, Maltese Falcon
m8YuZT A45 Gibbins-Weidenhagen Gambit, Oshima Defense
v3ULo9 A45 Gibbins-Weidenhagen Gambit, Stummer Gambit
vRxo-m A45 Lazard Gambit
1M3iFk A45 Maddigan Gambit
old5EW A45 Omega Gambit
r85AcX A45 Omega Gambit, Arafat Gambit
iRp29m A45 Paleface Attack, Blackmar-Diemer Gambit Deferred
fZsmU0 A45 Pawn Push Variation
jrP4p5 A45 Reversed Chigorin Defense
N_wpV1 A45 Tartakower Attack
_WcP9p A46 Czech-Indian
AN_3gn A46 Knights Variation
sdEROS A46 Knights Variation, Alburt-Miles Variation
RkFQfA A46 London System
BxP_7V A46 Polish Variation
t9KZfv A46 Spielmann-Indian
Eqs2-J A46 Wade-Tartakower Defense
lCjQop A47 Schnepper Gambit
2IGQxs A48 Colle System, King's Indian Variation
gj7rBX A49 Przepiorka Variation
xS4I8W A50 Medusa Gambit
De8u_Q A50 Normal Variation
VsoPyD A50 Pyrenees Gambit
1dta18 A51 Budapest Gambit
Fe_PMJ A51 Budapest Gambit Accepted
QbRJFR A51 Budapest Gambit Accepted, Fajarowicz Defense
7JEHNz A51 Budapest Gambit Accepted, Fajarowicz Defense, Bonsdorf Variation
D5c37b A51 Budapest Gambit Accepted, Fajarowicz Defense, Steiner Variation
OFDmW1 A52 Budapest Gambit Accepted, Main Line
26pLH7 A52 Budapest Gambit Accepted, Main Line, Adler Variation
qFw_1x A52 Budapest Gambit Accepted, Main Line, Alekhine Variation
AxbH4V A52 Budapest Gambit Accepted, Main Line, Alekhine Variation, Abonyi Variation
aTw0ig A52 Budapest Gambit Accepted, Main Line, Alekhine Variation, Tartakower Defense
JXlO67 A52 Budapest Gambit Accepted, Main Line, Rubinstein Variation
UZUC3i E00
RTjhUz E00 Devin Gambit
0_QauL E00 Seirawan Attack
sX_4ZX E10 Anti-Nimzo-Indian
CGpKeL E10 Dzindzi-Indian Defense
i8brwa E10 Döry Indian
2SR-8M E60 Anti-Grünfeld, Adorjan Gambit
LlF9qG E60 Anti-Grünfeld, Advance Variation
PvpC9N E60 Anti-Grünfeld, Alekhine Variation
8w6csu E60 Anti-Grünfeld, Alekhine Variation, Leko Gambit
L9Ezyc E60 Anti-Grünfeld, Basman-Williams Attack
of2anx E60 West Indian Defense
=Irish Gambit
84z7Yp C44
=Italian Game
vpo8_m C50
e-LmIl C50 Anti-Fried Liver Defense
KJQvto C50 Blackburne-Kostić Gambit
9jctAM C50 Classical Variation, Albin Gambit
4J2Agk C50 Deutz Gambit
GBWvxX C50 Giuoco Pianissimo
RDrV7K C50 Giuoco Pianissimo
MbZ2-a C50 Giuoco Pianissimo
DhqMKU C50 Giuoco Pianissimo
hCUGjJ C50 Giuoco Pianissimo, Canal Variation
luV2rF C50 Giuoco Pianissimo, Dubois Variation
ln8HAx C50 Giuoco Pianissimo, Italian Four Knights Variation
J-EDLd C50 Giuoco Pianissimo, Lucchini Gambit
ozn1Ec C50 Giuoco Pianissimo, Normal
eEpzsb C50 Giuoco Piano
_jiNxj C50 Hungarian Defense
hvYqqC C50 Hungarian Defense, Tartakower Variation
PMuJY5 C50 Jerome Gambit
S_cndJ C50 Paris Defense
2qVIEL C50 Rosentreter Gambit
Qy-SDG C50 Rousseau Gambit
WLvK69 C51 Evans Gambit
GnMYLr C51 Evans Gambit
huVuNi C51 Evans Gambit Accepted
fGUOnx C51 Evans Gambit Declined
wdALbI C51 Evans Gambit Declined
AgdGbp C51 Evans Gambit Declined, Cordel Variation
ymMh_A C51 Evans Gambit Declined, Hicken Variation
JZvYYR C51 Evans Gambit Declined, Hirschbach Variation
s5lPC5 C51 Evans Gambit Declined, Lange Variation
MakaMt C51 Evans Gambit Declined, Pavlov Variation
0myxb- C51 Evans Gambit Declined, Showalter Variation
UuKoSb C51 Evans Gambit Declined, Vasquez Variation
3caVso C51 Evans Gambit, Anderssen Variation
5wiI4T C51 Evans Gambit, Anderssen Variation, Cordel Line
2eNki2 C51 Evans Gambit, Fontaine Countergambit
ly2QfH C51 Evans Gambit, Fraser Attack
IGrtFm C51 Evans Gambit, Fraser-Mortimer Attack
2k8-DD C51 Evans Gambit, Göring Attack
TH1AbS C51 Evans Gambit, Harding Variation
6dL2hS C51 Evans Gambit, Hein Countergambit
mSS7Ed C51 Evans Gambit, Mayet Defense
mTFqLs C51 Evans Gambit, McDonnell Defense
8eSvjP C51 Evans Gambit, McDonnell Defense, Main Line
CA42jI C51 Evans Gambit, Morphy Attack
AWZv1a C51 Evans Gambit, Mortimer-Evans Gambit
ipGHds C51 Evans Gambit, Paulsen Variation
YPOix2 C51 Evans Gambit, Steinitz Variation
b8NJ-2 C51 Evans Gambit, Stone-Ware Variation
4wxnY7 C51 Evans Gambit, Ulvestad Variation
xVCo92 C52 Evans Gambit
VAZlor C52 Evans Gambit, Alapin-Steinitz Variation
SAZrvm C52 Evans Gambit, Anderssen Defense
g--JD- C52 Evans Gambit, Bronstein Defense
KF-UMf C52 Evans Gambit, Compromised Defense
rVpxgy C52 Evans Gambit, Compromised Defense, Main Line
Gi4xF7 C52 Evans Gambit, Compromised Defense, Potter Variation
oUwXSv C52 Evans Gambit, Dufresne Defense
XN43fc C52 Evans Gambit, Johner Defense
KzMk-6 C52 Evans Gambit, Laroche Variation
KuKSNv C52 Evans Gambit, Lasker Defense
mlhwMM C52 Evans Gambit, Leonhardt Countergambit
qyiLls C52 Evans Gambit, Levenfish Variation
ZeYunK C52 Evans Gambit, Main Line
MS4cdk C52 Evans Gambit, Mieses Defense
G7hkC2 C52 Evans Gambit, Pierce Defense
OtqIs4 C52 Evans Gambit, Richardson Attack
6UgEB6 C52 Evans Gambit, Sanders-Alapin Variation
3uRcDd C52 Evans Gambit, Slow Variation
vK_cUk C52 Evans Gambit, Sokolsky Variation
7qoeH4 C52 Evans Gambit, Tartakower Attack
lCznXT C52 Evans Gambit, Waller Attack
X4djnn C53 Bird's Attack
YN0MQD C53 Classical Variation
1qlXB4 C53 Classical Variation, Center Holding Variation
NhQg8x C53 Classical Variation, Closed Variation
Vs7Rdc C53 Classical Variation, Eisinger Variation
txQjRx C53 Classical Variation, La Bourdonnais Variation
7t4VJt C53 Classical Variation, Mestel Variation
J8HbQG C53 Classical Variation, Tarrasch Variation
X3DqTE C54 Classical Variation
KRO4z_ C54 Classical Variation, Center Attack
xtJOMg C54 Classical Variation, Ghulam-Kassim Variation
djhmYr C54 Classical Variation, Giuoco Pianissimo
rHc8Uh C54 Classical Variation, Giuoco Pianissimo
X48fZd C54 Classical Variation, Giuoco Pianissimo
D7n98G C54 Classical Variation, Giuoco Pianissimo
JFMGns C54 Classical Variation, Giuoco Pianissimo
tGgOqS C54 Classical Variation, Giuoco Pianissimo
fGY_jL C54 Classical Variation, Giuoco Pianissimo
q7NY0A C54 Classical Variation, Giuoco Pianissimo
Mn9Jew C54 Classical Variation, Giuoco Pianissimo
7Yoksr C54 Classical Variation, Giuoco Pianissimo
GvOXTd C54 Classical Variation, Giuoco Pianissimo
ZYFY3V C54 Classical Variation, Giuoco Pianissimo
uPcO6h C54 Classical Variation, Giuoco Pianissimo
uO9lOp C54 Classical Variation, Giuoco Pianissimo
-g-xt9 C54 Classical Variation, Giuoco Pianissimo
dkTtGr C54 Classical Variation, Giuoco Pianissimo
CH97-V C54 Classical Variation, Giuoco Pianissimo
LMXuFF C54 Classical Variation, Giuoco Pianissimo, Albin Variation
QbJZJ1 C54 Classical Variation, Giuoco Pianissimo, Main Line
8lccPT C54 Classical Variation, Giuoco Pianissimo, with a4 a5
xHCmMf C54 Classical Variation, Giuoco Pianissimo, with a5
UHXhIj C54 Classical Variation, Giuoco Pianissimo, with a6
WFSrH1 C54 Classical Variation, Giuoco Pianissimo, with a6
Ec22tf C54 Classical Variation, Giuoco Pianissimo, with h6
JjDceb C54 Classical Variation, Greco Gambit, Anderssen Variation
dlyWpo C54 Classical Variation, Greco Gambit, Dubov Italian
2wouPy C54 Classical Variation, Greco Gambit, Greco Variation
_f5iJp C54 Classical Variation, Greco Gambit, Main Line
J9ZFFT C54 Classical Variation, Greco Gambit, Modern Line
h63fCM C54 Classical Variation, Greco Gambit, Modern Line
faiekd C54 Classical Variation, Greco Gambit, Moeller-Bayonet Attack
nIlK9R C54 Classical Variation, Greco Gambit, Moeller-Therkatz Attack
JluOLP C54 Classical Variation, Greco Gambit, Traditional Line
bSvURR C54 Classical Variation, with d5
wfA3OY C54 Giuoco Piano, Aitken Variation
nsKsYn C54 Giuoco Piano, Bernstein Variation
kJZkwu C54 Giuoco Piano, Cracow Variation
l_eERY C54 Giuoco Piano, Greco's Attack
8vcE69 C54 Giuoco Piano, Holzhausen Attack
ZnwQA2 C54 Giuoco Piano, Krause Variation
0-skuU C54 Giuoco Piano, Rosentreter Variation
TC_HQD C54 Giuoco Piano, Steinitz Variation
p8c8IO C54 Giuoco Piano, Therkatz-Herzog Variation
TtyAH0 C55 Two Knights Defense
UE8gdE C55 Two Knights Defense
u-5yHH C55 Two Knights Defense
Ch0zxk C55 Two Knights Defense, Modern Bishop's Opening
uxx5xx C55 Two Knights Defense, Modern Bishop's Opening
tq13sl C55 Two Knights Defense, Modern Bishop's Opening
T0BkYU C56 Scotch Gambit
o416bv C56 Scotch Gambit, Anderssen Attack
UHZELr C56 Scotch Gambit, Anderssen Attack, Main Line
0qtzMM C56 Scotch Gambit, Canal Variation
dWG-BV C56 Scotch Gambit, Double Gambit Accepted
nkXTuV C56 Scotch Gambit, Janowski Defense
U2-dY6 C56 Scotch Gambit, Max Lange Attack
_R7mka C56 Scotch Gambit, Max Lange Attack
9KkUbc C56 Scotch Gambit, Max Lange Attack Accepted
I6kRqV C56 Scotch Gambit, Max Lange Attack, Long Variation
sZVqwB C56 Scotch Gambit, Max Lange Attack, Spielmann Defense
TJ_G2S C56 Scotch Gambit, Nakhmanson Gambit
JeJcJz C56 Scotch Gambit, Walbrodt-Baird Gambit
pqtRSk C56 Scotch Gambit, de Riviere Defense
ODGeRC C56 Scotch Invitation Declined
LsVR0C C56 Two Knights Defense, Keidansky Variation
-EbTw1 C56 Two Knights Defense, Max Lange Attack
Hb24uI C56 Two Knights Defense, Max Lange Attack, Berger Variation
B0rlyT C56 Two Knights Defense, Max Lange Attack, Krause Variation
LrlVuE C56 Two Knights Defense, Max Lange Attack, Loman Defense
WrVmd- C56 Two Knights Defense, Max Lange Attack, Rubinstein Variation
VEY7ex C56 Two Knights Defense, Open Variation
QbVJsE C56 Two Knights Defense, Perreux Variation
pQx8Yp C56 Two Knights Defense, Yurdansky Attack
-3uFfB C57 Two Knights Defense, Fegatello Attack, Leonhardt Variation
rdM3EX C57 Two Knights Defense, Fried Liver Attack
Qp6VUn C57 Two Knights Defense, Fritz Variation
ZX0GU8 C57 Two Knights Defense, Fritz, Gruber Variation
9qgIsQ C57 Two Knights Defense, Kloss Gambit
MChnRV C57 Two Knights Defense, Knight Attack
ROrbLe C57 Two Knights Defense, Knight Attack, Normal Variation
mY4kfU C57 Two Knights Defense, Lolli Attack
4YGobv C57 Two Knights Defense, Pincus Variation
klBKNd C57 Two Knights Defense, Ponziani-Steinitz Gambit
PQFDKu C57 Two Knights Defense, Traxler Counterattack
ah_GSe C57 Two Knights Defense, Traxler Counterattack, Bishop Sacrifice Line
HTNujN C57 Two Knights Defense, Traxler Counterattack, King March Line
di6iXb C57 Two Knights Defense, Traxler Counterattack, Knight Sacrifice Line
ozJKv_ C57 Two Knights Defense, Traxler Variation, Trencianske-Teplice Gambit
Wao94g C57 Two Knights Defense, Ulvestad Variation
awtEuA C57 Two Knights Defense, Ulvestad Variation, Kurkin Gambit
a7g-D_ C58 Two Knights Defense
lPZ5Hy C58 Two Knights Defense, Blackburne Variation
6tLK3k C58 Two Knights Defense, Colman Variation
AybEYC C58 Two Knights Defense, Maróczy Variation
enLuvd C58 Two Knights Defense, Paoli Variation
BiUnHb C58 Two Knights Defense, Polerio Defense
ctty4E C58 Two Knights Defense, Polerio Defense, Bishop Check Line
TlIPuW C58 Two Knights Defense, Polerio Defense, Bogoljubow Variation
1a1U_b C58 Two Knights Defense, Polerio Defense, Kieseritzky Variation
Zsfy4l C58 Two Knights Defense, Polerio Defense, Yankovich Variation
vrSbnh C59 Two Knights Defense, Knorre Variation
0sp-Eh C59 Two Knights Defense, Polerio Defense, Göring Variation
qCzI71 C59 Two Knights Defense, Polerio Defense, Suhle Defense
t1yWEF C59 Two Knights Defense, Steinitz Variation
=Kangaroo Defense
IwMBbz A40
4TAeAY A40 Keres Defense, Transpositional Variation
=King's Gambit
RBfqf1 C30
=King's Gambit Accepted
3zhrGJ C33
2oSYIZ C33 Basman Gambit
Y1R8PZ C33 Bishop's Gambit
v76Zk5 C33 Bishop's Gambit, Anderssen Defense
hRP8vb C33 Bishop's Gambit, Anderssen Variation
GY5EZ- C33 Bishop's Gambit, Bledow Countergambit
ZoN6xf C33 Bishop's Gambit, Bledow Variation
4I-iZq C33 Bishop's Gambit, Boden Variation
zZp4E7 C33 Bishop's Gambit, Bogoljubow Defense
NDA2D3 C33 Bishop's Gambit, Bogoljubow Variation
tQSOzX C33 Bishop's Gambit, Boren-Svenonius Variation
QS6ZAn C33 Bishop's Gambit, Bryan Countergambit
fcU7Vg C33 Bishop's Gambit, Chigorin's Attack
6KwF5_ C33 Bishop's Gambit, Classical Defense
kSovTO C33 Bishop's Gambit, Classical Defense, Cozio Attack
G6NbbC C33 Bishop's Gambit, Cozio Defense
xOvthe C33 Bishop's Gambit, Cozio Variation
6BETid C33 Bishop's Gambit, First Jaenisch Variation
Sd_PkM C33 Bishop's Gambit, Fraser Variation
tFw-4w C33 Bishop's Gambit, Gianutio Gambit
amXAu2 C33 Bishop's Gambit, Greco Variation
bc2cco C33 Bishop's Gambit, Grimm Attack
48in44 C33 Bishop's Gambit, Kieseritzky Gambit
2suPcx C33 Bishop's Gambit, Lopez Defense
yACH27 C33 Bishop's Gambit, Lopez Variation
RLLzLO C33 Bishop's Gambit, Maurian Defense
-5jpER C33 Bishop's Gambit, McDonnell Attack
mfiHK5 C33 Bishop's Gambit, McDonnell Attack
-nWSB4 C33 Bishop's Gambit, Paulsen Attack
HRuGAv C33 Bishop's Gambit, Steinitz Defense
t3LHI6 C33 Breyer Gambit
iYkf8z C33 Carrera Gambit
kj9aEb C33 Dodo Variation
Okwzaq C33 Eisenberg Variation
_twMmb C33 Gaga Gambit
TodfcG C33 Lopez-Gianutio Countergambit, Hein Variation
sK97fH C33 Mason-Keres Gambit
yyAXDR C33 Orsini Gambit
ASfCz0 C33 Paris Gambit
5n7o6i C33 Schurig Gambit, with Bb5
fozh2l C33 Schurig Gambit, with Bd3
jIOrhZ C33 Stamma Gambit
uZDleK C33 Tartakower Gambit
0F_D1Y C33 Tartakower Gambit, Weiss Defense
2SLjly C33 Tumbleweed
fjsx3y C33 Villemson Gambit
FRIFPA C34 Becker Defense
Vk_I7G C34 Bonsch-Osmolovsky Variation
ORRWAy C34 Fischer Defense
FJygSE C34 Fischer Defense, Schulder Gambit
HWbY_A C34 Fischer Defense, Spanish Variation
mp3xyA C34 Gianutio Countergambit
ZnRTnS C34 Greco Gambit
8YW_GX C34 King's Knight's Gambit
9v4y70 C34 King's Knight's Gambit
_2HWha C34 MacLeod Defense
gFjqQW C34 Schallopp Defense
QadeAP C34 Schallopp Defense, Tashkent Attack
b-xJBS C34 Wagenbach Defense
gxycN9 C35 Cunningham Defense
9HkhlM C35 Cunningham Defense, Bertin Gambit
ePW-t0 C35 Cunningham Defense, Bertin Gambit
x7jVKG C35 Cunningham Defense, McCormick Defense
eGeiFe C36 Abbazia Defense
XMEoah C36 Abbazia Defense, Main Line
EiZdRe C36 Modern Defense
1NUZwN C36 Modern Defense
Ql8stU C37 Australian Gambit
wDvWfO C37 Blachly Gambit
MS0XJp C37 Double Muzio Gambit
p3dn54 C37 Double Muzio Gambit, Baldwin Gambit
_jbgEB C37 Double Muzio Gambit, Bello Gambit
6ewV0v C37 Double Muzio Gambit, Paulsen Defense
XRLPH9 C37 Double Muzio Gambit, Young Gambit
Jaclge C37 Ghulam-Kassim Gambit
ltTq63 C37 Ghulam-Kassim Gambit
ZpnAg9 C37 King's Knight's Gambit
1OkkqB C37 Kotov Gambit
ysij-x C37 Lolli Gambit
cWnRlZ C37 Lolli Gambit, Young Variation
USGrc_ C37 McDonnell Gambit
hpd6MA C37 Middleton Countergambit
S-WFe7 C37 Muzio Gambit Accepted, From's Defense
P_u8e- C37 Muzio Gambit, Brentano Defense
m6h03X C37 Muzio Gambit, Holloway Defense
_gR_HZ C37 Muzio Gambit, Kling and Horwitz Counterattack
U8MTJl C37 Muzio Gambit, Sarratt Defense
b77kAO C37 Muzio Gambit, Wild Muzio Gambit
QGarLE C37 Quaade Gambit
574rCZ C37 Rosentreter Gambit
7Mlq9b C37 Rosentreter Gambit, Bird Gambit
4mJAQD C37 Rosentreter Gambit, Sörensen Gambit
hzQdaZ C37 Rosentreter Gambit, Testa Variation
mSxMqr C37 Salvio Gambit
cEMVdB C37 Salvio Gambit, Anderssen Counterattack
tTSHw6 C37 Salvio Gambit, Cochrane Gambit
V5q_Z- C37 Salvio Gambit, Santa Maria Defense
RK5Fej C37 Salvio Gambit, Silberschmidt Defense
jxCkzK C37 Salvio Gambit, Viennese Variation
Nt5okF C37 Silberschmidt Gambit
cf90MX C37 Sörensen Gambit
B4-9ED C38 Greco Gambit
jYzHRq C38 Hanstein Gambit
hm2S2O C38 Mayet Gambit
EgvUQP C38 Philidor Gambit
JxxXPx C38 Philidor Gambit, Schultz Variation
O7DHuN C38 Traditional Variation
S__X7N C39 Allgaier Gambit
Ymwp5D C39 Allgaier Gambit, Thorold Attack
rIF8uY C39 Allgaier Gambit, Urusov Attack
QXmKfM C39 Allgaier, Blackburne Gambit
xM11U0 C39 Allgaier, Cook Variation
ybzAqS C39 Allgaier, Horny Defense
kibYtw C39 Allgaier, Schlechter Defense
TwiuNu C39 Allgaier, Urusov Attack
wnSeSm C39 Kieseritzky Gambit
ciu6QG C39 Kieseritzky Gambit, Anderssen Defense
uWqXz6 C39 Kieseritzky Gambit, Anderssen-Cordel Gambit
tBNvhr C39 Kieseritzky Gambit, Berlin Defense
uqCc4y C39 Kieseritzky Gambit, Berlin Defense, Rubinstein Variation
A-hrq8 C39 Kieseritzky Gambit, Berlin Defense, de Riviere Variation
Q-7Okl C39 Kieseritzky Gambit, Brentano Defense
9xPmMX C39 Kieseritzky Gambit, Brentano Defense
RRxgpI C39 Kieseritzky Gambit, Brentano Defense, Caro Variation
UZjKWn C39 Kieseritzky Gambit, Cotter Gambit
EbMiRO C39 Kieseritzky Gambit, Kolisch Defense
VH7eN_ C39 Kieseritzky Gambit, Long Whip
vWBjg2 C39 Kieseritzky Gambit, Neumann Defense
2pddHQ C39 Kieseritzky Gambit, Paulsen Defense
YoO2jz C39 Kieseritzky Gambit, Paulsen Defense Deferred
NATUo0 C39 Kieseritzky Gambit, Rice Gambit
820r5g C39 Kieseritzky Gambit, Rosenthal Defense
eQnKx5 C39 Kieseritzky, Long Whip Defense, Jaenisch Variation
nUWm3A C39 Kieseritzky, Polerio Defense
73qK3F C39 Kieseritzky, Rice Gambit
y-nl7T C39 Kieseritzky, Salvio Defense, Cozio Variation
KAb4xK C39 King's Knight's Gambit
=King's Gambit Declined
xfiCM4 C30 Classical Variation
CGQqzT C30 Classical Variation
tBBpaL C30 Classical Variation, Euwe Attack
95yp23 C30 Classical Variation, Rotlewi Countergambit
e-rHSW C30 Classical Variation, Rubinstein Countergambit
yakjtX C30 Classical Variation, Walthoffen Attack
t-Y-M1 C30 Classical, Hanham Variation
UbGvBq C30 Classical, Réti Variation
WcZNpI C30 Classical, Soldatenkov Variation
B96QaE C30 Classical, Svenonius Variation
HGSLut C30 Hobbs-Zilbermints Gambit
p1ipO4 C30 Keene Defense
0KFKsy C30 Keene's Defense
0GcA4L C30 Keene's Defense
8zQQJY C30 Mafia Defense
Aeycbq C30 Miles Defense
YoRn9I C30 Norwalde Variation
9aS_Zv C30 Norwalde Variation, Bücker Gambit
_IKRoN C30 Norwalde Variation, Schubert Variation
Jkndqb C30 Panteldakis Countergambit
qR88Hw C30 Panteldakis Countergambit, Greco Variation
_GfPZk C30 Panteldakis Countergambit, Pawn Sacrifice Line
2T2_Rt C30 Panteldakis Countergambit, Schiller's Defense
COlY5k C30 Panteldakis Countergambit, Shirazi Line
BhL5bH C30 Panteldakis Countergambit, Symmetrical Variation
Xb0wpc C30 Petrov's Defense
TdCZxV C30 Queen's Knight Defense
sx7tBO C30 Senechaud Countergambit
rWGZ5A C30 Soller-Zilbermints Gambit
hyPkji C30 Zilbermints Double Countergambit
-ZBzZj C30 Zilbermints Double Gambit
NMLVG9 C31 Falkbeer Countergambit
qbn9hn C31 Falkbeer Countergambit Accepted
y-5XfA C31 Falkbeer Countergambit, Anderssen Attack
qEbuat C31 Falkbeer Countergambit, Blackburne Attack
m7fy7K C31 Falkbeer Countergambit, Charousek Gambit
S2yzLz C31 Falkbeer Countergambit, Charousek Gambit, Morphy Defense
86csme C31 Falkbeer Countergambit, Hinrichsen Gambit
y3bbC6 C31 Falkbeer Countergambit, Miles Gambit
9_O9g_ C31 Falkbeer Countergambit, Milner-Barry Variation
ubx6PJ C31 Falkbeer Countergambit, Modern Transfer
oqSR1W C31 Falkbeer Countergambit, Nimzowitsch-Marshall Countergambit
F0AUJh C31 Falkbeer Countergambit, Pickler Gambit
Fva9pw C31 Falkbeer Countergambit, Rubinstein Variation
tdcf8x C31 Falkbeer Countergambit, Staunton Line
o38aHN C32 Falkbeer Countergambit, Alapin Variation
unUSxg C32 Falkbeer Countergambit, Charousek Gambit
43ww0I C32 Falkbeer Countergambit, Charousek Gambit Accepted
Wnfvik C32 Falkbeer Countergambit, Charousek Gambit, Keres Variation
DPUI9Z C32 Falkbeer Countergambit, Charousek Gambit, Main Line
KMCt5I C32 Falkbeer Countergambit, Charousek Gambit, Old Line
T5kaPK C32 Falkbeer Countergambit, Charousek Variation
ZiyCj4 C32 Falkbeer Countergambit, Tarrasch Variation
=King's Indian Attack
h97UTc A05
HGeo0d A05 Smyslov Variation
AkbagZ A05 Spassky Variation
nefuxi A05 Symmetrical Defense
XPQlbY A05 Wahls Defense
HmAI9A A07
oThzpG A07 Double Fianchetto
gqKEkr A07 Keres Variation
xeKJ29 A07 Keres Variation
vFieu1 A07 Keres Variation
3E_8AP A07 Keres Variation
fwDYEU A07 Omega-Delta Gambit
uxSclq A07 Pachman System
jERaoX A07 Sicilian Variation
smlyxu A07 Yugoslav Variation
e2_jHR A07 Yugoslav Variation
ABW2fZ A08 French Variation
gkWUNz A08 Sicilian Variation
351JDM A08 Sicilian Variation
snBCkb A08 Sicilian Variation
=King's Indian Attack, with Bf5
0q1_Pc A07
Dhq54b A07
BYHetw A07
60sXfN A07
zUmzqo A07
=King's Indian Attack, with e6
fIWqNb A07
Lae6QB A07
=King's Indian Defense
Y9p5iA E60 Fianchetto Variation
thZh_L E60 Fianchetto Variation, Immediate Fianchetto
xWXg3E E60 Normal Variation, King's Knight Variation
WrfKR_ E60 Santasiere Variation
1NsYcO E60 Semi-Classical Variation, Benoni Variation
y351sz E60 Semi-Classical Variation, Hollywood Variation
uHWjQt E61
dhVFID E61 Fianchetto Variation, Benjamin Defense
3J00is E61 Semi-Classical Variation
Swijyd E61 Semi-Classical Variation, Exchange Variation
i2Ep0S E61 Semi-Classical Variation, Queenside Storm Line
gVe6WT E61 Smyslov Variation
d3J5ff E62 Fianchetto Variation, Carlsbad Variation
jx9Y8q E62 Fianchetto Variation, Delayed Fianchetto
UyNBua E62 Fianchetto Variation, Kavalek Defense
uGACuO E62 Fianchetto Variation, Larsen Defense
ApiF9f E62 Fianchetto Variation, Lesser Simagin (Spassky)
6311TX E62 Fianchetto Variation, Simagin Variation
AqZx7l E62 Fianchetto Variation, Uhlmann-Szabo System
8NOnx6 E63 Fianchetto Variation, Panno Variation
blkDBh E63 Fianchetto Variation, Panno Variation, Blockade Line
ys381d E63 Fianchetto Variation, Panno Variation, Donner Line
hQGmcr E63 Fianchetto Variation, Panno Variation, Korchnoi Line
99Oc0M E64 Fianchetto Variation, Double Fianchetto Attack
9DJSZ9 E64 Fianchetto Variation, Hungarian Variation
0GQx7- E64 Fianchetto Variation, Pterodactyl Variation
fKQBl7 E64 Fianchetto Variation, Yugoslav System
EjjgVh E64 Fianchetto Variation, Yugoslav Variation, Rare Line
TPrP1H E65 Fianchetto Variation, Yugoslav Variation
qEnoXa E65 Fianchetto Variation, Yugoslav Variation, Exchange Line
hxWtCb E66 Fianchetto Variation, Yugoslav Variation, Advance Line
pF5M4n E67 Fianchetto Variation, Classical Fianchetto
zVs6YL E67 Fianchetto Variation, Debrecen Defense
UNKnr7 E68 Fianchetto Variation, Classical Variation
ZKet8R E68 Fianchetto Variation, Long Variation
hbYmmO E69 Fianchetto Variation, Classical Main Line
igJsUw E70 Accelerated Averbakh Variation
3GCh1U E70 Kramer Variation
A9WEEL E70 Normal Variation
klrQtu E70 Normal Variation
R07A4w E71 Karpov System
gNFBDZ E71 Makogonov Variation
GB7mav E72 Normal Variation, Deferred Fianchetto
Be6xu7 E72 Pomar System
L0Z67Q E73 Averbakh Variation
8Y2dsT E73 Averbakh Variation, Flexible Defense
jKrtPz E73 Averbakh Variation, Geller Defense
uWImFj E73 Averbakh Variation, Modern Defense
Z83_J3 E73 Averbakh Variation, Modern Defense, Burgess Line
A9Zl-s E73 Averbakh Variation, Nc6 Defense
WEYTU1 E73 Averbakh Variation, Spanish Defense
q34ICN E73 Normal Variation, Standard Development
5Odm2k E73 Semi-Averbakh System
D5Q_sM E74 Averbakh Variation, Benoni Defense
ntgatz E74 Averbakh Variation, Benoni Defense, Advance Variation
KBabcJ E74 Averbakh Variation, Benoni Defense, Exchange Variation
mzLAGi E75 Averbakh Variation, Main Line
WqTSfk E76 Four Pawns Attack
aAXnWr E76 Four Pawns Attack, Dynamic Attack
ukljmG E76 Four Pawns Attack, Modern Defense
DQGHov E77 Four Pawns Attack
zErFeG E77 Four Pawns Attack, Florentine Gambit
XmrjqM E77 Four Pawns Attack, Normal Attack
qiimy_ E77 Six Pawns Attack
9vq_GL E78 Four Pawns Attack, Fluid Attack
ShOmNR E79 Four Pawns Attack, Exchange Variation
VU-_TS E80 Sämisch Variation
xyXWd4 E81 Steiner Attack
vkfzMf E81 Steiner Attack
X5yVag E81 Steiner Attack
8BouCp E81 Steiner Attack
OTgrHv E81 Sämisch Variation, Bobotsov-Korchnoi-Petrosian Variation
JFv16B E81 Sämisch Variation, Byrne Defense
KfdcNF E81 Sämisch Variation, Normal Defense
3tINoR E81 Sämisch Variation, Sämisch Gambit
OZMen- E81 Sämisch Variation, Sämisch Gambit Accepted
aIQr4y E82 Sämisch Variation, Double Fianchetto
_Q25JF E83 Sämisch Variation, Panno Formation
pUlplg E83 Sämisch Variation, Ruban Variation
q-dQEq E83 Sämisch Variation, Yates Defense
ovMOC8 E84 Sämisch Variation, Panno Main Line
-aUbEN E85 Sämisch Variation, Orthodox Variation
UwFQNg E86 Sämisch Variation
Un6PpF E87 Sämisch Variation, Bronstein Defense
cWuhcI E87 Sämisch Variation, Closed Variation
Gemtau E87 Sämisch Variation, Orthodox Variation, Bronstein Variation
48dnCm E88 Sämisch Variation, Closed Variation
tAbkfh E89 Sämisch Variation, Closed Variation, Main Line
jjaIff E90 Larsen Variation
5rx0qs E90 Normal Variation, Rare Defenses
8gvd4N E90 Zinnowitz Variation
lD_GAd E91 Kazakh Variation
ZNGpWk E91 Orthodox Variation
2COdws E92 Exchange Variation
VMews1 E92 Orthodox Variation
RWVaUw E92 Orthodox Variation, Gligoric-Taimanov System
abnkWF E92 Petrosian Variation
u4EqN- E92 Petrosian Variation, Stein Defense
0xq_i9 E93 Petrosian Variation, Keres Defense
2hw9QG E93 Petrosian Variation, Normal Defense
PFXTj5 E94 Orthodox Variation
p_GYCY E94 Orthodox Variation, Donner Defense
2Ok_F4 E94 Orthodox Variation, Glek Defense
1vhVds E94 Orthodox Variation, Positional Defense
o624yj E94 Orthodox Variation, Positional Defense, Closed Line
hG6q2S E94 Orthodox Variation, Ukrainian Defense
uAVwji E95 Orthodox Variation
OJwLJj E96 Orthodox Variation, Positional Defense, Main Line
nXNxeR E97 Orthodox Variation, Aronin-Taimanov Defense
tR_9oB E97 Orthodox Variation, Bayonet Attack
Y5uLmp E97 Orthodox Variation, Bayonet Attack, Sokolov's Line
AqlbAa E97 Orthodox Variation, Bayonet Attack, Yepishin's Line
TROVRy E97 Orthodox Variation, Korchnoi Attack
E_hzoo E97 Orthodox Variation, Modern System
r3OeY7 E98 Orthodox Variation, Classical System
MjZAtk E98 Orthodox Variation, Classical System, Kozul Gambit
3dRHrK E98 Orthodox Variation, Classical System, Neo-Classical Line
S1ykkE E99 Orthodox Variation, Classical System, Benko Attack
BLvxHW E99 Orthodox Variation, Classical System, Traditional Line
=King's Knight Opening
qqGeRK C40
GMD3jU C44 Konstantinopolsky
RvK9nH C44 Normal Variation
=King's Pawn Game
NdOPLm B00
uRaKKq B07 Maróczy Defense
WQJZAZ C20
x-vZjU C20 Alapin Opening
884-4Z C20 Bavarian Gambit
ETpdRB C20 Beyer Gambit
2C1q6G C20 Clam Variation, King's Gambit Reversed
CBcUhR C20 Clam Variation, Radisch Gambit
j5quRw C20 King's Head Opening
1_xZsk C20 King's Head Opening
2KvkTJ C20 Leonardis Variation
3yH-TU C20 MacLeod Attack
GKlBOx C20 MacLeod Attack, Lasa Gambit
EqJ5fX C20 MacLeod Attack, Norwalde Gambit
RQsSjU C20 Mengarini's Opening
RdFbA0 C20 Napoleon Attack
7IbFMA C20 Philidor Gambit
qXZkpY C20 Tortoise Opening
blw8_F C20 Wayward Queen Attack
IwRO3W C20 Wayward Queen Attack, Kiddie Countergambit
rTp_V9 C20 Wayward Queen Attack, Mellon Gambit
rU7XmZ C20 Weber Gambit
WtKMXt C40 Busch-Gass Gambit
rMK_4j C40 Busch-Gass Gambit, Chiodini Gambit
gjrV9C C40 Damiano Defense
uvq_4T C40 Damiano Defense, Damiano Gambit
6EZcty C40 Damiano Defense, Damiano Gambit, Chigorin Gambit
lDb755 C40 Gunderam Defense, Gunderam Gambit
mNdKlp C40 Gunderam Gambit
KXiTKy C40 La Bourdonnais Gambit
xZz5Q_ C40 McConnell Defense
uIj4E3 C44 Dresden Opening
1ELgxs C44 Pachman Wing Gambit
fiDkrr C44 Schulze-Müller Gambit
rfVVIM C44 Tayler Opening
mpoKlk C44 Tayler Opening
8-KyDH C44 Tayler Opening, Basman Gambit
HxEFii C44 Tayler Opening, Inverted Hanham
=King's Pawn Opening
Cii2iv C20
icTltr C20 Speers
yJ0kgm C20 Van Hooydoon Gambit
=Kádas Opening
RWbF_Z A00
d0t8ez A00 Beginner's Trap
cnir80 A00 Koola-Koola Variation
vp9MGg A00 Kádas Gambit
_IBbJ8 A00 Kádas Gambit
Vhm18V A00 Kádas Gambit
_e0hcc A00 Myers Variation
rozQdK A00 Schneider Gambit
Ddh4GH A00 Steinbok Gambit
=Lasker Simul Special
Ujnysy A00
=Latvian Gambit
iE4Upg C40
DCrE3T C40 Behting Variation
F7siE2 C40 Corkscrew Countergambit
HbbASP C40 Corkscrew Gambit
0zmjVj C40 Diepstraten Countergambit
48uNXY C40 Fraser Defense
T9ehRs C40 Greco Variation
7brwAp C40 Lobster Gambit
DG-Rzb C40 Mason Countergambit
SopJAz C40 Mayet Attack
N0xRUw C40 Mayet Attack, Morgado Defense
gO51K8 C40 Mayet Attack, Poisoned Pawn Variation
UoDE1u C40 Mayet Attack, Polerio-Svedenborg Variation
icqHcp C40 Mayet Attack, Strautins Gambit
mPS826 C40 Mlotkowski Variation
4iWJV1 C40 Senechaud Gambit
69Og1a C44 Clam Gambit
=Latvian Gambit Accepted
8Jc94j C40
IfCqQ7 C40 Bilguer Variation
yiJYmn C40 Bronstein Attack
uSw554 C40 Bronstein Gambit
v3pg99 C40 Foltys Variation
eeMlxf C40 Foltys-Leonhardt Variation
Y6F8yv C40 Leonhardt Variation
d5AKm6 C40 Main Line
1bk8Hf C40 Nimzowitsch Attack
=Lemming Defense
cZEDEb B00
=Lion Defense
vrHG-a B00 Lion's Jaw
8Qfw6n B07
tVxV2D B07 Anti-Philidor
WUlECV B07 Anti-Philidor, Lion's Cave
-k2T0l B07 Anti-Philidor, Lion's Cave, Lion Claw Gambit
q2o9jf B07 Bayonet Attack
=London System
An4eaB A48
tgZGnw A48
ADiuwz A48
iMnHKH D02 Poisoned Pawn Variation
=London System, with Bd3
DlgqJm A48
=London System, with Be2
BuPClG A48
IuETs0 A48
SozbIs A48
=Marienbad System
pCojgw A47
uf8DmQ A47 Berg Variation
=Mexican Defense
VLkgsN A50
k5ImAG A50 Horsefly Gambit
=Mieses Opening
dSPHP5 A00
0kOGQU A00 Myers Spike Attack
h9EiXX A00 Reversed Rat
g8zRb1 A00 Venezolana Variation
=Mikenas Defense
SiO1vi A40
xpBWgp A40 Cannstatter Variation
24tOle A40 Lithuanian Variation
v5UPRy A40 Pozarek Gambit
=Modern Defense
Z_9S4W A04 Semi-Averbakh Variation, Polish Variation
NQCmXY A04 Semi-Averbakh Variation, Pterodactyl Variation
uBfQQd A04 Semi-Averbakh Variation, Pterodactyl Variation Accepted
z9RSk1 A40 Beefeater Variation
xi7_LM A40 Lizard Defense, Pirc-Diemer Gambit
ODhBM2 A41
24PzWE A41 Neo-Modern Defense
9cv8UC A42 Averbakh System
agaHw2 A42 Averbakh Variation, Pseudo-Sämisch
b17cn1 A42 Kotov Variation
Pggqy4 A42 Randspringer Variation
LoTa6h B06
UlZMfC B06
tQniuU B06 Anti-Modern
1FKGSX B06 Bishop Attack
y_ypdB B06 Bishop Attack, Bücker Gambit
5nWmcQ B06 Bishop Attack, Monkey's Bum
dlFEyp B06 Dunworthy Variation
chw0WI B06 Fianchetto Gambit
cPA7cG B06 Gurgenidze Defense
6gytXT B06 Lizard Defense, Mittenberger Gambit
eTC6xW B06 Masur Gambit
4TlonO B06 Modern Pterodactyl
LAwbdS B06 Mongredien Defense, with Nc3
mYrhoL B06 Mongredien Defense, with Nf3
OOxK9P B06 Norwegian Defense
PO_IqQ B06 Norwegian Defense, Norwegian Gambit
MjteXg B06 Pseudo-Austrian Attack
MExy-n B06 Semi-Averbakh Variation, Pterodactyl Variation Declined
IikCSj B06 Standard Defense
wyx9SC B06 Standard Line
ml_mnY B06 Three Pawns Attack
AYAdIT B06 Two Knights Variation
5DZOle B06 Two Knights Variation, Suttles Variation
FnHgeD B06 Two Knights Variation, Suttles Variation, Tal Gambit
Dz1z8D B06 Westermann Gambit
7ILfx5 B06 Wind Gambit
VzV-hK B07 Geller's System
xjMYqi B27 Pterodactyl Variation
=Montevideo Defense
_Lh03e A40
=Neo-Grünfeld Defense
iMAhzX D70 Goglidze Attack
FnWqPN D70 with Nf3
F_Rnng D70 with g3
Sfnw7- D71 Exchange Variation
g1V6-A D71 Exchange Variation
dsIZrP D72 with g3
hGKndY D73 with g3
ZwFikK D74 Delayed Exchange Variation
Eb0DNh D75 Delayed Exchange Variation
rqiEWW D75 Delayed Exchange Variation
h52k25 D76 Delayed Exchange Variation
GRWi1P D77 Classical Variation
jq32Vd D77 Classical Variation, Modern Defense
5BRUDU D77 Classical Variation, Polgar Variation
06bGMX D78 Classical Variation, Original Defense
RKO4kK D79 Ultra-Delayed Exchange Variation
=Nimzo-Indian Defense
Ooa8__ E20
geZ2dr E20 Dilworth Gambit
Gu23Qy E20 Kmoch Variation
XebXAG E20 Mikenas Attack
bNsnwY E20 Romanishin Variation
9SW91t E20 Romanishin Variation
ABu3dt E20 Romanishin Variation, English Hybrid
CHvKP6 E21 Three Knights Variation
8rRCbx E21 Three Knights Variation, Euwe Variation
bfKmc5 E21 Three Knights Variation, Korchnoi Variation
ca8S6x E21 Three Knights Variation, Shocron Gambit
1S6OPb E22 Spielmann Variation
nJxP50 E23 Spielmann Variation, Carlsbad Variation
KXmy3J E23 Spielmann Variation, Romanovsky Gambit
M_EaW8 E23 Spielmann Variation, Stahlberg Variation
X6wdl2 E23 Spielmann Variation, Stahlberg Variation
P7lYur E24 Sämisch Variation
zfbb4l E24 Sämisch Variation, Botvinnik Variation
9Zz81e E25 Sämisch Variation
6wgNCY E25 Sämisch Variation, Keres Variation
mol0mk E25 Sämisch Variation, Romanovsky Variation
lADZ0F E26 Sämisch Variation
6f3xHA E26 Sämisch Variation, O'Kelly Variation
9EAZX4 E27 Sämisch Variation
xBcoUi E28 Sämisch Variation
HyUrGw E29 Sämisch Variation
sax8Kf E29 Sämisch Variation, Capablanca Variation
zLY4NG E30 Leningrad Variation
vtEmRv E30 Leningrad Variation, Averbakh Gambit
bcsmBg E31 Leningrad Variation, Benoni Defense
qUp9eK E32 Classical Variation
f-RLZM E32 Classical Variation, Keres Defense
3EiOQ6 E32 Classical Variation, Vitolins-Adorjan Gambit
TQGo12 E33 Classical Variation, Milner-Barry Variation
E8FfyA E33 Classical Variation, Zurich Variation
Hg_WPW E34 Classical Variation, Belyavsky Gambit
dnj0T9 E34 Classical Variation, Noa Variation
GBvNK4 E35 Classical Variation, Noa Variation
e3LNFU E36 Classical Variation, Noa Variation
uJeCye E36 Classical Variation, Noa Variation, Botvinnik Variation
JzTlAB E36 Classical Variation, Noa Variation, Main Line
uTkJAg E36 Classical Variation, Romanishin Gambit
cUYOX4 E37 Classical Variation, Modern Variation
pTlfaX E37 Classical Variation, Noa Variation
fyfX4b E37 Classical Variation, Noa Variation, San Remo Variation
F3swa5 E38 Classical Variation, Berlin Variation
GM1zp4 E38 Classical Variation, Berlin Variation
R9cMPz E38 Classical Variation, Berlin Variation, Steiner Variation
soHw5O E39 Classical Variation, Berlin Variation, Macieja System
iJenEF E39 Classical Variation, Berlin Variation, Pirc Variation
5GjCsP E40 Rubinstein System
TOt53H E40 Rubinstein System, Taimanov Variation
rgaS7D E41 Rubinstein System
mGXgFB E41 Rubinstein System, Hübner Variation
KDcEqH E41 Rubinstein System, Hübner Variation
JHvSwz E42 Rubinstein System, Rubinstein Variation
bhhEnA E42 Rubinstein System, Rubinstein Variation, Main Line
yO6wEi E42 Rubinstein System, Rubinstein Variation, Sherbakov Attack
lMs8NX E43 St. Petersburg Variation
TkoF8G E43 St. Petersburg Variation
u5Yqzd E43 St. Petersburg Variation
K07-UY E43 St. Petersburg Variation
JkqZwU E43 St. Petersburg Variation
ju-YPC E43 St. Petersburg Variation
hIUJvt E43 St. Petersburg Variation
z6Ww3M E43 St. Petersburg Variation
lFHkZ1 E43 St. Petersburg Variation
n-2By0 E43 St. Petersburg Variation
3a5u0n E43 St. Petersburg Variation
i22VCP E43 St. Petersburg Variation, with Ne4
aSjSZC E44 St. Petersburg Variation
8fXQlv E44 St. Petersburg Variation, American Variation
FBNkcv E44 St. Petersburg Variation, Romanishin-Psakhis Variation
UMBVcf E45 St. Petersburg Variation, Fischer Variation
A7b7Rf E46 Normal Variation
UIv4up E46 Reshevsky Variation
ZOhk9E E46 Simagin Variation
OxQtvQ E47 Normal Variation
w154SF E48 Normal Variation, Classical Defense
m1X8t5 E48 Ragozin Defense
4JEStD E49 Normal Variation, Botvinnik System
-DC6Zd E50
1IvPC6 E51 Normal Variation, Ragozin Variation
vP4qsA E51 Normal Variation, Sämisch Deferred
kx6B1S E51 Ragozin Variation
xvVNyu E52 Normal Variation, Schlechter Defense
HdgPnd E52 Normal Variation, Schlechter Defense
GvTs17 E53 Normal Variation, Gligoric System
YiHmiu E53 Normal Variation, Gligoric System
hcpIXS E53 Normal Variation, Gligoric System, Keres Variation
rH6yo1 E54 Normal Variation, Gligoric System, Exchange Variation
R8ZfrK E54 Normal Variation, Gligoric System, Exchange Variation
zB00sK E54 Normal Variation, Gligoric System, Smyslov Variation
mJx_BD E55 Normal Variation, Gligoric System, Bronstein Variation
d7I2QJ E56 Normal Variation, Gligoric System, Bernstein Defense
Y5ndPw E57 Normal Variation, Gligoric System, Bernstein Defense
c3-2ja E58 Normal Variation, Bernstein Defense, Exchange Line
SuH9Aw E59 Normal Variation, Bernstein Defense
_HeJ-A E59 Normal Variation, Bernstein Defense
=Nimzo-Larsen Attack
RwPUdF A01
21C564 A01 Classical Variation
kffD-7 A01 Dutch Variation
UjqmcP A01 English Variation
Ycb3jN A01 Graz Attack
GiFdvI A01 Indian Variation
Y1PE0T A01 Modern Variation
e0yJ_V A01 Modern Variation
rqpzpv A01 Modern Variation
8Hs_4X A01 Modern Variation
E8pINu A01 Pachman Gambit
3hkW5D A01 Polish Variation
9dGCui A01 Ringelbach Gambit
rXgzJc A01 Spike Variation
RsdmPV A01 Symmetrical Variation
kPJ2fu A06 Classical Variation
tQgjYA A06 Norfolk Gambit
acrJgU A06 Norfolk Gambit
=Nimzowitsch Defense
XMp-se B00
DDeWdC B00
O4f4fW B00 Breyer Variation
d5S6aN B00 Colorado Countergambit
h6TeMK B00 Colorado Countergambit Accepted
p7daGI B00 Declined Variation
X9pAYA B00 El Columpio Defense
mQ8aMU B00 El Columpio Defense, El Columpio Gambit
-g7wIV B00 El Columpio Defense, Exchange Variation
rkZ7by B00 El Columpio Defense, Pin Variation
5g9qfB B00 Franco-Nimzowitsch Variation
4EqeKu B00 French Connection
OhPnlo B00 Hornung Gambit
oohssJ B00 Kennedy Variation
xiqUcP B00 Kennedy Variation, Bielefelder Gambit
b8ex6O B00 Kennedy Variation, Hammer Gambit
pO4N3R B00 Kennedy Variation, Herford Gambit
lM0i4Q B00 Kennedy Variation, Keres Attack
9nxwEV B00 Kennedy Variation, Linksspringer Variation
0pg7bX B00 Kennedy Variation, Main Line
nT_kvA B00 Kennedy Variation, Paulsen Attack
EZ0n_U B00 Kennedy Variation, Riemann Defense
ro5F2_ B00 Kennedy Variation, de Smet Gambit
sn8tv8 B00 Mikenas Variation
4jrSCv B00 Neo-Mongoloid Defense
ISfSJo B00 Pirc Connection
SwWqwZ B00 Pseudo-Spanish Variation
ed9FqD B00 Scandinavian Variation
6QJy0V B00 Scandinavian Variation, Aachen Gambit
7dqyjm B00 Scandinavian Variation, Advance Variation
riFxAE B00 Scandinavian Variation, Bogoljubow Variation
7YX8oY B00 Scandinavian Variation, Bogoljubow Variation
QcbW22 B00 Scandinavian Variation, Bogoljubow Variation, Brandics Gambit
eGVSqD B00 Scandinavian Variation, Bogoljubow Variation, Erben Gambit
KLXuPd B00 Scandinavian Variation, Bogoljubow Variation, Heinola-Deppe Gambit
sCYq26 B00 Scandinavian Variation, Bogoljubow Variation, Nimzowitsch Gambit
__nRZr B00 Scandinavian Variation, Bogoljubow Variation, Richter Gambit
hF3PrS B00 Scandinavian Variation, Bogoljubow Variation, Vehre Variation
yJzoHC B00 Scandinavian Variation, Exchange Variation
bvDjaK B00 Scandinavian Variation, Exchange Variation, Marshall Gambit
gpv759 B00 Wheeler Gambit
s4kfK1 B00 Williams Variation
JwVqnp B00 Woodchuck Variation
=Old Indian Defense
m0qHvC A41
qOAW6P A53
ZOOcQf A53 Aged Gibbon Gambit
Sto2iz A53 Czech Variation, with Nc3
g8tKVk A53 Czech Variation, with Nf3
zyJWJR A53 Janowski Variation
GmcF3X A53 Janowski Variation, Fianchetto Variation
T2ZOQj A53 Janowski Variation, Grinberg Gambit
3RotGx A53 Janowski Variation, Main Line
uuYkvs A54 Duz-Khotimirsky Variation
imG-J9 A54 Tartakower-Indian
NwCUPT A54 Two Knights Variation
9WPhUw A54 Ukrainian Variation
WLPZEs A55 Normal Variation
=Owen Defense
-ish4b B00
ODUXjA B00 Guatemala Defense
coNAnb B00 Hekili-Loa Gambit
S7znvP B00 Matovinsky Gambit
WiOgGJ B00 Naselwaus Gambit
VIVJXy B00 Smith Gambit
-3dNKu B00 Unicorn Variation
2yn6ol B00 Wind Gambit
=Paleface Attack
RDNZ3G A45
=Petrov's Defense
G681tz C42
frgtOB C42
gSfJxh C42
rYRi-X C42
OkL2tj C42
8EFY1P C42 Classical Attack
qs2_ek C42 Classical Attack, Berger Variation
v6s7ta C42 Classical Attack, Chigorin Variation
RNe4LA C42 Classical Attack, Chigorin Variation, Browne Attack
r4aO8W C42 Classical Attack, Chigorin Variation, Main Line
U020_1 C42 Classical Attack, Closed Variation
Cjb4YP C42 Classical Attack, Jaenisch Variation
HNmI3p C42 Classical Attack, Krause Variation
dsNLHI C42 Classical Attack, Marshall Trap
D_N4m4 C42 Classical Attack, Marshall Variation
sPvXlb C42 Classical Attack, Marshall Variation, Chinese Gambit
W3bTRw C42 Classical Attack, Maróczy Variation
Kmi0td C42 Classical Attack, Mason Variation
2BmJG5 C42 Classical Attack, Mason-Showalter Variation
c0KDfn C42 Classical Attack, Staunton Variation
ciK0o7 C42 Classical Attack, Tarrasch Variation
KBHbmv C42 Cochrane Gambit
BxVacX C42 Cochrane Gambit, Bishop Check Line
bpargJ C42 Cochrane Gambit, Center Variation
J7nE-a C42 Cozio Attack
Fj-f1z C42 Damiano Variation
SeN_iA C42 Damiano Variation, Kholmov Gambit
n2eJjp C42 French Attack
zPOfXS C42 Italian Variation
2yc9cu C42 Karklins-Martinovsky Variation
R_z81w C42 Kaufmann Attack
7NgcxF C42 Millennium Attack
RmQSY- C42 Moody Gambit
maLAX3 C42 Nimzowitsch Attack
_nXpjL C42 Paulsen Attack
2YF9P4 C42 Stafford Gambit
n2_OiW C42 Stafford Gambit Accepted
2301zg C42 Stafford Gambit Accepted
Y6sofM C42 Stafford Gambit Accepted
pb3g_u C42 Three Knights Game
1_J3up C43 Modern Attack
kcFYTX C43 Modern Attack
E8eXGf C43 Modern Attack, Bardeleben Variation
i6W64P C43 Modern Attack, Center Attack
PK1Eom C43 Modern Attack, Center Variation
Ow1S2E C43 Modern Attack, Murrey Variation
CAJ7zR C43 Modern Attack, Steinitz Variation
oAa9vE C43 Modern Attack, Symmetrical Variation
6J8ern C43 Modern Attack, Tal Gambit
RHkh_f C43 Modern Attack, Trifunovic Variation
=Philidor Defense
TIpL41 C41
ooq5JD C41
6TVQlq C41
2qXVpH C41
fTEDXy C41 Albin-Blackburne Gambit
NuR0D6 C41 Berger Variation
MBl30y C41 Bird Gambit
PdMCpc C41 Boden Variation
L4eEUm C41 Exchange Variation
cpZ7_y C41 Exchange Variation
9H1_oZ C41 Exchange Variation
9iA-p6 C41 Hanham Variation
RZBtNM C41 Hanham Variation, Delmar Variation
coTw0M C41 Hanham Variation, Krause Variation
gMCUE8 C41 Hanham Variation, Schlechter Variation
KrUOvW C41 Hanham Variation, Sharp Variation
L2PpUU C41 Hanham Variation, Steiner Variation
GfFOVO C41 Hanham, Kmoch Variation
X_MIzY C41 Larsen Variation
NWb_6j C41 Lion Variation
JUaqaP C41 Lion Variation, Bishop Sacrifice
EltEKp C41 Lion Variation, Delayed Bishop Sacrifice
a30h6g C41 Lion Variation, Forcing Line
snlR0v C41 Lion Variation, Lion's Claw, with Bc4 and h6
5NV2z3 C41 Lion Variation, Lion's Claw, with Be2 and c6
xQD7Ji C41 Lion Variation, Shirov Gambit
ztA9oJ C41 Lion Variation, Sozin Variation
W6jwNN C41 Lopez Countergambit
H_14fm C41 Lopez Countergambit, Jaenisch Variation
HEycc9 C41 Morphy Gambit
rSqJ8S C41 Nimzowitsch Variation
ngV5hc C41 Nimzowitsch Variation
YgBk_P C41 Nimzowitsch Variation, Klein Variation
AWgQV9 C41 Nimzowitsch Variation, Rellstab Variation
8qGL7z C41 Nimzowitsch Variation, Sokolsky Variation
GS5Msw C41 Nimzowitsch, Larobok Variation
08qEQZ C41 Nimzowitsch, Locock Variation
q0gg2j C41 Paulsen Attack
o-Tmae C41 Philidor Countergambit
2agQWV C41 Philidor Countergambit, Berger Variation
siGBgz C41 Philidor Countergambit, Zukertort Variation
-P8-0Q C41 Philidor Countergambit, del Rio Attack
ISHP5a C41 Philidor Gambit
-RovAl C41 Steinitz Variation
=Pirc Defense
CfPnSz B00
2OFrzV B00
lbz4Xz B00
P3SgzN B00 Roscher Gambit
5D2_MU B07
JwjbRI B07 150 Attack
7P2p4I B07 150 Attack, Inner Doll Defense
qpinUc B07 150 Attack, Sveshnikov-Jansa Attack
Bejtgn B07 Bayonet Attack
iNzdih B07 Byrne Variation
zcS-Hz B07 Chinese Variation
xmMTHj B07 Kholmov System
jqOszA B07 Sveshnikov System
keaJEr B08 Classical Variation
_hjDVH B08 Classical Variation
1Y__-5 B08 Classical Variation, Quiet System
WofBoh B08 Classical Variation, Quiet System, Chigorin Line
ZVOEj3 B08 Classical Variation, Quiet System, Czech Defense
-9VGCH B08 Classical Variation, Quiet System, Parma Defense
LxRE95 B08 Classical Variation, Schlechter Variation
jMVdoF B09 Austrian Attack
zk5dto B09 Austrian Attack
yV0jUs B09 Austrian Attack, Dragon Formation
JbEglr B09 Austrian Attack, Kurajica Variation
lT7cfA B09 Austrian Attack, Ljubojevic Variation
rGXe9p B09 Austrian Attack, Unzicker Attack
WcGwh2 B09 Austrian Attack, Unzicker Attack, Bronstein Variation
MnxeD- B09 Austrian Attack, Weiss Variation
=Polish Defense
jg7vbN A40
rJPpmN A40 Spassky Gambit Accepted
=Polish Opening
Mcdvoy A00
rbYiRA A00 Baltic Defense
sHMYON A00 Birmingham Gambit
eoaO6R A00 Bugayev Advance Variation
dlDlb5 A00 Bugayev Attack
4B0rph A00 Czech Defense
fe1rqw A00 Dutch Defense
BPPsvb A00 German Defense
7l4c6B A00 Grigorian Variation
RrBFeM A00 Karniewski Variation
aS5iEt A00 King's Indian Variation
l8ixHl A00 King's Indian Variation, Schiffler Attack
s--bIp A00 King's Indian Variation, Sokolsky Attack
xBqZfz A00 Myers Variation
_X1Hib A00 Outflank Variation
FwR9qK A00 Outflank Variation, Schuehler Gambit
QVCcYV A00 Queen's Indian Variation
MRaZCI A00 Queenside Defense
G_0YIs A00 Rooks Swap Line
nP_urG A00 Schiffler-Sokolsky Variation
uoFPy- A00 Schuehler Gambit
4XPmiJ A00 Symmetrical Variation
N96Ut3 A00 Tartakower Gambit
Q6RRfQ A00 Wolferts Gambit
vQOJTg A05 Zukertort System
=Polish Opening, with d5
ngIjXJ A00
OX2mBq A00
=Ponziani Opening
Hdapx8 C44
FSRFIa C44 Caro Gambit
enn3Qs C44 Jaenisch Counterattack
W7gy8i C44 Jaenisch Counterattack
98GaY3 C44 Jaenisch Counterattack
60p_CT C44 Jaenisch Counterattack
YH22zZ C44 Leonhardt Variation
r1CXIL C44 Neumann Gambit
IyUqxF C44 Ponziani Countergambit
JAQ8Bv C44 Ponziani Countergambit, Schmidt Attack
Rtmlan C44 Romanishin Variation
bNT-su C44 Réti Variation
fMaOFP C44 Spanish Variation
6JehWa C44 Spanish Variation, Harrwitz Attack, Nikitin Gambit
T-Q_-c C44 Steinitz Variation
w9A3no C44 Vukovic Gambit
=Portuguese Opening
F3h1a5 C20
egDVjm C20 Miguel Gambit
2ZMNI6 C20 Portuguese Gambit
=Pseudo Queen's Indian Defense
Qmljmd A47
2Cp2HV A47
=Pterodactyl Defense
ICjB2t A40 Central, Benoni Beefeater Pterodactyl
1BvGg- A40 Central, Benoni Pterodactyl
fql1tt A40 Fianchetto, Queen Benoni Pterodactyl
wYkBRG A40 Fianchetto, Queen Pteranodon
hVr0cR A40 Fianchetto, Queen Pterodactyl
H8f8mJ A40 Queen Pterodactyl, Quiet Line
MMzi4J A42
4TN7h9 A42 Central, Bogolubovia
m1CXrq B06 Austrian, Austriadactylus Western
JFkjv2 B06 Austrian, Grand Prix Pterodactyl
SPUT8i B06 Austrian, Pteranodon
iuCy6p B06 Central, Anhanguera
cv0nz_ B06 Central, Benoni Quetzalcoatlus
BaJ6zO B06 Central, Quetzalcoatlus Gambit
tvdyR4 B06 Eastern, Anhanguera
n3JG3m B06 Eastern, Benoni
eqIB9- B06 Eastern, Benoni Pteranodon
W7JusE B06 Eastern, Benoni Pterodactyl
fvIDWR B06 Eastern, Pteranodon
KQVlZr B06 Eastern, Rhamphorhynchus
a39Qvr B06 Fianchetto, King Pterodactyl
88Neh_ B06 Fianchetto, Rhamphorhynchus
TS5XaZ B06 Sicilian, Quetzalcoatlus
J4H2CA B06 Sicilian, Siroccopteryx
In1wcB B06 Western, Anhanguera
QdsJaW B06 Western, Siroccopteryx
l1-_JE B27 Sicilian, Anhanguera
LcD33E B27 Sicilian, Benoni Gambit
kTQl4x B27 Sicilian, Pteranodon
RbdPog B27 Sicilian, Rhamphorhynchus
7x5sEz B27 Sicilian, Unpin
MT_h5L B27 Western, Pterodactyl
HQlMBv B27 Western, Rhamphorhynchus
=Queen's Gambit
mzamSN D06
=Queen's Gambit Accepted
ARV7V8 D20
PxasZP D20 Accelerated Mannheim Variation
1ZG5oL D20 Central Variation, Alekhine System
pRWccH D20 Central Variation, Greco Variation
-kL7lv D20 Central Variation, McDonnell Defense
babrPa D20 Central Variation, McDonnell Defense, Somov Gambit
GvT-Dl D20 Central Variation, Modern Defense
QySC4E D20 Central Variation, Rubinstein Defense
D9yc9_ D20 Central Variation, Rubinstein Defense, Yefimov Gambit
2k1GKy D20 Linares Variation
_kjzOo D20 Old Variation
TR7KkW D20 Old Variation, Billinger Gambit
7INZ1Q D20 Old Variation, Christensen Gambit
FAV1kk D20 Old Variation, Korchnoi Gambit
kt933N D20 Old Variation, Novikov Gambit
kV1OxI D20 Saduleto Variation
Gs1j5S D20 Schwartz Defense
seO1p_ D21 Alekhine Defense, Borisenko-Furman Variation
NgEZWr D21 Godes Variation
XL4eaj D21 Gunsberg Defense
zNqcrV D21 Normal Variation
qP2ZwI D21 Rosenthal Variation
xwuULP D21 Slav Gambit
mIUnWd D22 Alekhine Defense
Dxh63j D22 Alekhine Defense, Alatortsev Variation
8q2BpM D22 Alekhine Defense, Haberditz Variation
-Lrj10 D23
C8waQq D23 Mannheim Variation
bG65-a D24
SaOW4i D24
XUdbjU D24 Bogoljubow Defense
EOLVLj D24 Gunsberg Defense, Prianishenmo Gambit
hKCvQV D24 Showalter Variation
LSHdUd D25 Janowski-Larsen Variation
_caL1s D25 Normal Variation
rxFRJg D25 Smyslov Variation
wnh5Sr D25 Winawer Defense
j3EtGs D26 Classical Defense
PX7IKK D26 Classical Defense, Normal Line
A0dg2E D26 Classical Defense, Steinitz Variation, Development Variation
193hqP D26 Classical Defense, Steinitz Variation, Exchange Variation
ylE7Lw D26 Classical, Furman Variation
QYY0rD D26 Normal Variation, Traditional System
vM6a_5 D26 Normal Variation, Traditional System
yTHPw7 D26 Normal Variation, Traditional System
NyiAg_ D26 Normal Variation, Traditional System
KEoWwa D27 Classical Defense, Main Line
i6d3Tn D27 Classical Defense, Main Line
VA284g D27 Classical Defense, Rubinstein Variation
IDF_AW D27 Classical Defense, Rubinstein Variation
X3yBE3 D27 Classical Defense, Russian Gambit
tmWOh6 D27 Furman Variation
eWPJWL D28 Classical Defense, Alekhine System
fRI0g6 D28 Classical Defense, Alekhine System
neEIuF D28 Classical, Flohr Variation
vxmuT7 D29 Classical Defense, Alekhine System, Main Line
0jQ6nt D29 Classical Defense, Alekhine System, Main Line
npehr6 D29 Classical Defense, Alekhine System, Smyslov Variation
=Queen's Gambit Declined
DgiUnT D02 Baltic Defense, Pseudo-Slav
BHCYi4 D06 Austrian Attack, Salvio Countergambit
n454bs D06 Austrian Defense
l2c6LF D06 Austrian Defense, Gusev Countergambit
nbW0Z3 D06 Austrian Defense, Haberditz Variation
8HC7TT D06 Baltic Defense
1Sb1qA D06 Baltic Defense, Argentinian Gambit
D-9abS D06 Baltic Defense, Pseudo-Chigorin
-7jcDf D06 Baltic Defense, Queen Attack
lHTPoN D06 Baltic Defense, Queen Attack Deferred
SJhhcf D06 Marshall Defense
yNAOYx D06 Marshall Defense, Tan Gambit
9FScGW D06 Zilbermints Gambit
czA3TB D07 Chigorin Defense
D7rKBU D07 Chigorin Defense
f2Mcsw D07 Chigorin Defense
cEkQMu D07 Chigorin Defense, Exchange Variation
mNmg-5 D07 Chigorin Defense, Exchange Variation, Costa's Line
bYTkG1 D07 Chigorin Defense, Janowski Variation
vRuqOr D07 Chigorin Defense, Lazard Gambit
k_AueZ D07 Chigorin Defense, Main Line
N2-avi D07 Chigorin Defense, Main Line, Alekhine Variation
f6VWQt D07 Chigorin Defense, Modern Gambit
xGvbrU D07 Chigorin Defense, Tartakower Gambit
37KD4g D08 Albin Countergambit
V_r12i D08 Albin Countergambit, Balogh Variation
VQNTw7 D08 Albin Countergambit, Janowski Variation
XxlhxI D08 Albin Countergambit, Krenosz Variation
jWyRE0 D08 Albin Countergambit, Lasker Trap
i5gkkf D08 Albin Countergambit, Modern Line
ODLtPC D08 Albin Countergambit, Normal Line
DPGJx4 D08 Albin Countergambit, Spassky Variation
3zotiC D08 Albin Countergambit, Tartakower Defense
JxvAxh D09 Albin Countergambit, Fianchetto Variation
Ate_78 D09 Albin Countergambit, Fianchetto Variation, Be6 Line
zX2kJ3 D09 Albin Countergambit, Fianchetto Variation, Bf5 Line
Ey327k D09 Albin Countergambit, Fianchetto Variation, Bg4 Line
c7P2UM D30
E8BLVg D30 Capablanca Variation
14DzoQ D30 Capablanca Variation
yC53BQ D30 Semmering Variation
sJ1aBy D30 Spielmann Variation
LznxB9 D30 Stonewall Variation
v_4az- D30 Tarrasch Defense, Pseudo-Tarrasch
Hk_2tI D30 Tarrasch Defense, Pseudo-Tarrasch Bishop Attack
hnOBrF D30 Traditional Variation
OkAQxX D30 Vienna Variation
4M2WEP D31 Alapin Variation
jmWomr D31 Charousek Variation
HjngM2 D31 Charousek Variation, Miladinovic Gambit
ztPR22 D31 Janowski Variation
j0neP5 D31 Queen's Knight Variation
0iqzg3 D31 Semi-Slav, Abrahams Variation
6zkjwk D31 Semi-Slav, Junge Variation
DKWG0W D31 Semi-Slav, Koomen Variation
VBwYqp D32 Tarrasch Defense
7RBit4 D32 Tarrasch Defense
CAEqCT D32 Tarrasch Defense
KOJ5Dm D32 Tarrasch Defense
x5TFdY D34 Tarrasch Defense, Stoltz Variation
tr3DOe D35 Exchange Variation
FSYkn3 D35 Exchange Variation
ndgjfH D35 Exchange Variation
myXu45 D35 Exchange Variation, Carlsen Variation
ZiuR8F D35 Exchange Variation, Chameleon Variation
CHrwCl D35 Exchange Variation, Positional Variation
u8lY53 D35 Exchange Variation, Positional Variation
KmNkdC D35 Exchange Variation, Sämisch Variation
Ss2CL2 D35 Harrwitz Attack
6imcbk D35 Normal Defense
giVHHO D36 Exchange Variation, Reshevsky Variation
Qbj693 D36 Exchange Variation, Reshevsky Variation
3o5Ge2 D36 Exchange Variation, Reshevsky Variation
4_QWBj D36 Exchange Variation, Reshevsky Variation
1wUyTU D37 Barmen Variation
S8e3g_ D37 Harrwitz Attack
oD2emO D37 Harrwitz Attack
gjWJrx D37 Harrwitz Attack
pOspzg D37 Harrwitz Attack, Fianchetto Defense
9LOoWO D37 Harrwitz Attack, Main Line
w_F7_y D37 Harrwitz Attack, Orthodox Defense
g8_C-i D37 Harrwitz Attack, Two Knights Defense
vEwMji D37 Harrwitz Attack, Two Knights Defense, Blockade Line
8K0btl D37 Knight Defense, Alekhine Gambit
jQ8Peo D37 Miles Variation
APLfYB D37 Three Knights Variation
eZrPgL D37 Three Knights Variation
6QciHv D37 Three Knights, Vienna Variation
Q6wVUK D37 Vienna Variation, Quiet Variation
7JlKLj D38 Ragozin Defense
hWhEBB D38 Ragozin Defense, Alekhine Variation
Ud2S_R D38 Westphalian Variation
KTKzEM D39 Ragozin Defense, Vienna Variation
W_oewe D40 Semi-Tarrasch Defense
_uERlb D40 Semi-Tarrasch Defense
cSyGJr D40 Semi-Tarrasch Defense, Levenfish Variation
46V5iq D40 Semi-Tarrasch Defense, Pillsbury Variation
WkuWr9 D40 Semi-Tarrasch Defense, Symmetrical Variation
x36ab_ D40 Semi-Tarrasch Defense, with e3
hJdx98 D41 Semi-Tarrasch Defense
24lzhn D41 Semi-Tarrasch Defense
WwfUtW D41 Semi-Tarrasch Defense
7c1DIq D41 Semi-Tarrasch Defense
h6MN91 D41 Semi-Tarrasch Defense, Endgame Variation
FI9C3x D41 Semi-Tarrasch Defense, Exchange Variation
h5NX_M D41 Semi-Tarrasch Defense, Exchange Variation
Crkqwa D41 Semi-Tarrasch Defense, Kmoch Variation
BIwT-L D41 Semi-Tarrasch Defense, Pillsbury Variation
J3ejGQ D41 Semi-Tarrasch Defense, San Sebastian Variation
BUjUxO D42 Semi-Tarrasch Defense, Main Line
CxbFII D50 Been-Koomen Variation
5AKhVi D50 Modern Variation
K4Nne3 D50 Pseudo-Tarrasch Variation
hzzUKC D50 Pseudo-Tarrasch Variation, Canal Variation
DwELYL D50 Pseudo-Tarrasch Variation, Primitive Pillsbury Variation
0l5WvP D50 Semi-Tarrasch Defense, Krause Variation
rgvh4k D51 Alekhine Variation
KH0QLW D51 Capablanca Variation, Anti-Cambridge Springs Variation
c7rTIJ D51 Manhattan Variation
vq-ENY D51 Modern Variation, Knight Defense
4cxYhA D51 Modern Variation, Knight Defense
dPfysl D51 Modern Variation, Knight Defense
GV1WTS D51 Rochlin Variation
cBw7qd D52
aYjo2W D52 Cambridge Springs Defense
3UMePg D52 Cambridge Springs Defense
P-5PCr D52 Cambridge Springs Defense, Argentine Variation
tPBE2r D52 Cambridge Springs Defense, Bogoljubow Variation
s8AD7O D52 Cambridge Springs Defense, Capablanca Variation
4LmuKw D52 Cambridge Springs Defense, Rubinstein Variation
rBHdOF D52 Cambridge Springs Defense, Yugoslav Variation
ydR8Iy D53
tWvCxL D53
godvWm D53
Kvx9Gj D53
H3t166 D53
QqKOGQ D53
u6RGMT D53 Lasker Defense
LX9oPN D53 Modern Variation, Heral Variation
VFshCj D53 Uhlmann Variation
fmFcyf D54 Neo-Orthodox Variation
g43VK_ D55 Anti-Tartakower Variation
JVi0Pl D55 Anti-Tartakower Variation, Petrosian Variation
Ayggtx D55 Modern Variation, Normal Line
lTbYdU D55 Neo-Orthodox Variation
oYlWUA D55 Neo-Orthodox Variation, Main Line
HoP59W D55 Pillsbury Attack
jZmCd6 D56
-FKW2N D56 Lasker Defense
o6Ua5M D56 Lasker Defense
wDVFMm D56 Lasker Defense, Russian Variation
QMbdlA D56 Lasker Defense, Teichmann Variation
kzckkS D57 Lasker Defense, Bernstein Variation
lwtClz D57 Lasker Defense, Bernstein Variation, Mar del Plata Gambit
frSkkd D57 Lasker Defense, Main Line
WiW3Wg D58 Tartakower Defense
pNFkXW D58 Tartakower Defense, Exchange Variation
HkR6OY D59 Tartakower Defense
DmXEaU D59 Tartakower Defense, Makogonov Exchange Variation
EC6o1i D60 Orthodox Defense
SX_5FJ D60 Orthodox Defense, Botvinnik Variation
sWmuJk D60 Orthodox Defense, Botvinnik Variation
1Mawnl D60 Orthodox Defense, Rauzer Variation
_SPSB4 D61 Orthodox Defense, Rubinstein Variation
sSetpz D61 Orthodox Defense, Rubinstein Variation
0D6Q0L D61 Orthodox Defense, Rubinstein Variation
ZfkSuV D61 Orthodox Defense, Rubinstein Variation
7u_cLl D61 Orthodox Defense, Rubinstein Variation
v7OY6p D61 Orthodox Defense, Rubinstein Variation
VO6Ojo D62 Orthodox Defense, Rubinstein Variation, Flohr Line
oCP_9L D63 Orthodox Defense, Capablanca Variation
vcoUMg D63 Orthodox Defense, Henneberger Variation
J24G2g D63 Orthodox Defense, Henneberger Variation
68YhZA D63 Orthodox Defense, Henneberger Variation
kXLA1r D63 Orthodox Defense, Henneberger Variation
0tpikC D63 Orthodox Defense, Main Line
s59Bho D63 Orthodox Defense, Main Line
NxMjOc D63 Orthodox Defense, Main Line
SazNKB D63 Orthodox Defense, Pillsbury Variation
vfX-1g D63 Orthodox Defense, Swiss, Carlsbad Variation
Wy-KV2 D64 Orthodox Defense, Rubinstein Attack
DiTdZZ D64 Orthodox Defense, Rubinstein Attack
UHF0ge D64 Orthodox Defense, Rubinstein Attack
okFcKB D64 Orthodox Defense, Rubinstein Attack
mr338N D65 Orthodox Defense, Rubinstein Attack
-UHAcW D65 Orthodox Defense, Rubinstein Attack
FkAY8U D66 Orthodox Defense, Bd3 Line
B71luY D66 Orthodox Defense, Bd3 Line
zkDpj1 D66 Orthodox Defense, Fianchetto Variation
jOc9aP D67 Orthodox Defense, Alekhine Variation
IB1rdj D67 Orthodox Defense, Bd3 Line
4qcKam D67 Orthodox Defense, Capablanca System
INqPA3 D67 Orthodox Defense, Janowski Variation
kD_YRl D67 Orthodox Defense, Main Line
ufZdYK D68 Orthodox Defense, Classical Variation
YAfyF2 D68 Orthodox Defense, Classical Variation
9YzVW7 D68 Orthodox Defense, Classical Variation
nqAE0g D69 Orthodox Defense, Classical Variation
=Queen's Indian Accelerated
mIsEb2 A50
=Queen's Indian Defense
-ppjXJ E12
7s9Kib E12 Kasparov Variation
Bitncn E12 Kasparov Variation, Botvinnik Attack
nF1p_O E12 Kasparov-Petrosian Variation
ejeOu3 E12 Kasparov-Petrosian Variation, Andersson Variation
hMkktu E12 Kasparov-Petrosian Variation, Classical Variation
FQ6Cuj E12 Kasparov-Petrosian Variation, Hedgehog Variation
FPjGUD E12 Kasparov-Petrosian Variation, Kasparov Attack
1NdyBR E12 Kasparov-Petrosian Variation, Main Line
Ht_bbd E12 Kasparov-Petrosian Variation, Marco Defense
aYbgV_ E12 Kasparov-Petrosian Variation, Modern Variation
IHEkss E12 Kasparov-Petrosian Variation, Petrosian Attack
qAswhI E12 Kasparov-Petrosian Variation, Polovodin Gambit
mGqdXU E12 Kasparov-Petrosian Variation, Rashkovsky Attack
CFCD3u E12 Kasparov-Petrosian Variation, Romanishin Attack
HZnfWs E12 Miles Variation
E2shTl E12 Petrosian Variation
wlb8eT E12 Petrosian Variation, Farago Defense
pamuN3 E13 Kasparov Variation
EUgvLh E14 Averbakh Variation
oczJco E14 Spassky System
GyReFe E14 Spassky System
rYU0e- E14 Spassky System
0L2SOl E14 Spassky System
uwVpiz E14 Spassky System3
v3cm3O E14 Spassky System3
TRIoej E15 Buerger Variation
4md0EQ E15 Fianchetto Variation
b4mTot E15 Fianchetto Variation, Check Variation
JL3sRt E15 Fianchetto Variation, Check Variation, Intermezzo Line
ZVOsCk E15 Fianchetto Variation, Check Variation, Modern Line
tlbl0X E15 Fianchetto Variation, Nimzowitsch Variation
J46_U1 E15 Fianchetto Variation, Nimzowitsch Variation, Nimzowitsch Attack
51aEXR E15 Fianchetto Variation, Nimzowitsch Variation, Quiet Line
6c7klq E15 Fianchetto Variation, Nimzowitsch Variation, Timman's Line
YjXwmc E15 Fianchetto Variation, Rubinstein Variation
KcCcyp E15 Fianchetto Variation, Sämisch Variation
LSm6f3 E15 Fianchetto Variation, Traditional Line
Pg_6I3 E16 Capablanca Variation
ztDQzP E16 Riumin Variation
P1BIbe E16 Yates Variation
dHGh0r E17 Anti-Queen's Indian System
YrwOIG E17 Classical Variation
JY3cVX E17 Classical Variation, Polugaevsky Gambit
bbJORT E17 Classical Variation, Taimanov Gambit
cGdHu2 E17 Euwe Variation
ad4uTu E17 Fianchetto Variation, Kramnik Variation
w3P-2D E17 Opocensky Variation
IJbIsT E17 Traditional Variation
_48ooZ E18 Classical Variation, Tiviakov Defense
YZTjmD E18 Classical Variation, Traditional Variation
vXMa3M E18 Classical Variation, Traditional Variation, Nimzowitsch Line
KIuP1P E19 Classical Variation, Traditional Variation, Main Line
=Queen's Indian Defense, with e3
EwMn8N E14
e_vSKf E14
MIGqWp E14
oZMeLk E14
stPWFR E14
y3vlSW E14
LiMxgy E14
j_q-GD E14
d8yKD2 E14
uuWg39 E14
BLcApL E14
YxPcvf E14
zzgYRm E14
Vbk9nu E14
=Queen's Indian Defense, with e3, Bb4+ Line
I81Npb E14
=Queen's Pawn Game
s_Ahgp A40
xiMaAw A40 Anglo-Slav Opening
HHLDp3 A40 Modern Defense
ErGm8p A41
bOfAas A41 Rossolimo Variation
BOiLDX A43 Liedmann Gambit
gwurCU A45 Chigorin Variation
IlBlYu A45 Veresov, Richter Attack
urepjX A46 Torre Attack, Breyer Variation
u7ojPg A46 Veresov Attack, Classical Defense
kg33yW A48 Barry Attack
9JY-UN A48 Barry Attack
fi39R9 A48 Barry Attack, Grünfeld Variation
vltuDR A48 Barry Attack, Tarzan Attack
XGQlyN A48 Torre Attack, Grünfeld Variation, Main Line
TYEX2d A80 Veresov Attack, Dutch System
DCjtfC D00
0TiJcr D00
-e6UtW D00
7AmGor D00 Accelerated London System
JgkzRX D00 Accelerated London System, Steinitz Countergambit
leZng2 D00 Accelerated London System, Steinitz Countergambit Accepted
H-DaGk D00 Accelerated London System, Steinitz Countergambit, Morris Countergambit
oyGKg_ D00 Accelerated London System, Steinitz Countergambit, Morris Countergambit Accepted
8i3AMQ D00 Chigorin Variation
AkXjHF D00 Chigorin Variation
GV8UEq D00 Chigorin Variation, Alburt Defense
wsxy_U D00 Chigorin Variation, Anti-Veresov
hbnrkm D00 Chigorin Variation, Fianchetto Defense
0urbki D00 Chigorin Variation, Irish Gambit
6pnHsy D00 Chigorin Variation, Shaviliuk Gambit
juUy7U D00 Chigorin Variation, Shropshire Defense
1no7iJ D00 Hübsch Gambit
yG4d13 D00 Levitsky Attack
3GhdzR D00 Levitsky Attack, Welling Variation
wDArsP D00 Mason Attack
Ne_8gq D00 Stonewall Attack
T8BT9Y D00 Zurich Gambit
J3JO0o D02 Anti-Torre
5Jcsa7 D02 Chandler Gambit
8zZmIB D02 Chigorin Variation
FuJdEA D02 Krause Variation
P_pKKK D02 Levitsky Attack, Euwe Variation, Modern Line
ou__qd D02 London System
8CRBMi D02 London System
g_-Ubl D02 London System
IDgrFE D02 London System
AT5nI8 D02 London System, Pterodactyl Variation
0tiZCq D02 London System, with e6
nw74-D D02 London System, with e6
AJsr7j D02 Symmetrical Variation
kt43z8 D02 Symmetrical Variation, Pseudo-Catalan
KfSSLX D02 Symmetrical Variation, Pseudo-Catalan
n61piZ D02 Symmetrical Variation, Pseudo-Catalan
9qpmHq D02 Zilbermints Countergambit
TjNt4s D02 Zukertort Variation
AwIJmy D03 Torre Attack
Dh7SGI D03 Torre Attack
U0JDPf D03 Torre Attack
oLvHRd D03 Torre Attack
p0x-vO D03 Torre Attack
oyIfOr D03 Torre Attack
LJvs-h D03 Torre Attack
eesWk5 D03 Torre Attack
-dURAw D03 Torre Attack
rAhCKG D03 Torre Attack
YADYeZ D03 Torre Attack
S13WLX D03 Torre Attack, Gossip Variation
7j5qyb D03 Torre Attack, Grünfeld Variation
xTaUIm D03 Torre Attack, Grünfeld Variation
0GDPI2 D04 Colle System
eOwxLY D04 Colle System, Anti-Colle
dS7QLA D04 Colle System, Grünfeld Formation
VxarWL D05 Colle System
ezLmr4 D05 Colle System
EuPu6f D05 Colle System
NN92-j D05 Colle System
jXl56E D05 Colle System
xNXpve D05 Colle System
Il7rbb D05 Colle System
P8ERRC D05 Colle System, Traditional Colle
NFXCH_ D05 Zukertort Variation
=Queen's Pawn, Mengarini Attack
WfWh5y E60
=Rapport-Jobava System
FHkEZs D01
WslIHm D01
JK55D8 D01
=Rapport-Jobava System, with e6
B6RvWZ D01
=Rat Defense
GhK7bu A41 English Rat
zpHp-V A41 English Rat, Lisbon Gambit
sQjunD A41 English Rat, Pounds Gambit
MiSTbA A82 Balogh Defense
TN5sKR B00 Antal Defense
L0zzKx B00 Fuller Gambit
U-z1UN B00 Harmonist
ovdtLa B00 Petruccioli Attack
_IOkHF B00 Spike Attack
fYKSSN B06 Accelerated Gurgenidze
OxIsj6 C00 Small Center Defense
=Richter-Veresov Attack
yYtEFB D01
wDjOPi D01
1ssBUH D01 Boyce Defense
R-yYoE D01 Malich Gambit
K_s9gQ D01 Richter Variation
-D8LuB D01 Two Knights System
nIzU9z D01 Two Knights System, Grünfeld Defense
gIl73P D01 Veresov Variation
=Robatsch Defense
5Lby_s A41 Rossolimo Variation
=Rubinstein Opening
8W-6Fs D05
OSuXLl D05 Bogoljubow Defense
MGV0yV D05 Classical Defense
G4ph6A D05 Semi-Slav Defense
6iNtOY D05 Semi-Slav Defense
59tJSS D05 Semi-Slav Defense
=Ruy Lopez
v6RBa4 C60
WGIHJ6 C60 Alapin Defense
fLMoUa C60 Alapin Defense, Alapin Gambit
xwSrzw C60 Brentano Gambit
HypALz C60 Bulgarian Variation
O6BC7m C60 Cozio Defense
m6EbKe C60 Cozio Defense, Paulsen Variation
b7JIiV C60 Cozio Defense, Tartakower Gambit
xHdg1S C60 Fianchetto Defense
iz3RnO C60 Fianchetto Defense, Kevitz Gambit
5ISem3 C60 Lucena Variation
5kLvda C60 Nürnberg Variation
aFSxAj C60 Pollock Defense
9sMn-6 C60 Retreat Variation
ZP8P9S C60 Rotary-Albany Gambit
CmWk89 C60 Spanish Countergambit
xZq7vi C60 Spanish Countergambit, Harding Countergambit, Fricke Gambit
7eV_ho C60 Spanish Countergambit, Harding Gambit
-6TYNq C60 Vinogradov Variation
a-ahQx C61 Bird Variation
h3fJBT C61 Bird Variation, Paulsen Variation
X6LuxK C62 Steinitz Defense
3g_18y C62 Steinitz Defense
ehv4vQ C62 Steinitz Defense, Center Gambit
5ypb4b C62 Steinitz Defense, Nimzowitsch Attack
8abg3i C62 Steinitz Defense, Semi-Duras Variation
3UoiuF C63 Schliemann Defense
EsV-e- C63 Schliemann Defense, Classical Variation
ugXVq- C63 Schliemann Defense, Dyckhoff Variation
rmIK46 C63 Schliemann Defense, Exchange Variation
f2RBVz C63 Schliemann Defense, Jaenisch Gambit Accepted
V_11tQ C63 Schliemann Defense, Kostić Defense
_BBDif C63 Schliemann Defense, Möhring Variation
Vua22Y C63 Schliemann Defense, Schönemann Attack
kwAMUt C63 Schliemann Defense, Tartakower Variation
4XBOHx C64 Classical Defense, Benelux Variation
ITnyRo C64 Classical Defense, Boden Variation
3LYlLW C64 Classical Defense, Zaitsev Variation
bGqIft C64 Classical Variation
sl2YVZ C64 Classical Variation, Central Variation
GKZTLN C64 Classical Variation, Charousek Variation
0h5ALM C64 Classical Variation, Cordel Gambit
SZJ8h6 C64 Classical Variation, Konikowski Gambit
YNAASF C64 Classical Variation, Modern Main Line
6Jv0pm C64 Classical Variation, Spanish Wing Gambit
-rt495 C65 Berlin Defense
qZ7B5Y C65 Berlin Defense
sI55yL C65 Berlin Defense, Anti-Berlin Variation
VOrtCN C65 Berlin Defense, Anti-Berlin Variation, Anderssen Variation
TNpFH_ C65 Berlin Defense, Anti-Berlin Variation, Duras Variation
n-zowy C65 Berlin Defense, Anti-Berlin Variation, Kaufmann Variation
OgBdhj C65 Berlin Defense, Anti-Berlin Variation, Mortimer Trap
GTAEcm C65 Berlin Defense, Anti-Berlin Variation, Mortimer Variation
aQeswX C65 Berlin Defense, Beverwijk Variation
peOBdt C65 Berlin Defense, Fishing Pole Variation
BoVVJE C65 Berlin Defense, Nyholm Attack
nHmVlF C65 Classical Variation, Zukertort Gambit
GA39o4 C65 Halloween Attack
9WTouz C66 Berlin Defense, Closed Bernstein Variation
qPNbTS C66 Berlin Defense, Closed Showalter Variation
01T1gx C66 Berlin Defense, Closed Wolf Variation
NVS0Ps C66 Berlin Defense, Hedgehog Variation
zYD0zC C66 Berlin Defense, Improved Steinitz Defense
bjiHcV C66 Berlin Defense, Tarrasch Trap
tqoyYW C66 Closed Berlin Defense, Chigorin Variation
KWU1NE C67 Berlin Defense, Berlin Wall
fdseHE C67 Berlin Defense, Cordel Variation
YzsoAk C67 Berlin Defense, Minckwitz Variation
lBTg3W C67 Berlin Defense, Pillsbury Variation
2BZDln C67 Berlin Defense, Rio Gambit Accepted
F5b9Yu C67 Berlin Defense, Rio de Janeiro Variation
n87UQZ C67 Berlin Defense, Rio de Janeiro Variation
dLss1V C67 Berlin Defense, Rosenthal Variation
ifXh_B C67 Berlin Defense, Trifunovic Variation
DZx5JP C67 Berlin Defense, Winawer Attack
kJFC1_ C67 Berlin Defense, Zukertort Variation
5GOZGR C67 Berlin Defense, l'Hermet Variation
luf7Yc C67 Berlin Defense, l'Hermet Variation, Berlin Wall Defense
TmYEq9 C67 Berlin Defense, l'Hermet Variation, Westerinen Line
m3F24u C67 Open Berlin Defense, Showalter Variation
Qc5M-b C67 Open Berlin Defense, l'Hermet Variation
RHEd8V C68 Exchange Variation
s_odXb C68 Exchange Variation, Alekhine Variation
4TYMn_ C68 Exchange Variation, Keres Variation
9iB0Qb C68 Exchange Variation, Lutikov Variation
KQ6lnY C68 Exchange Variation, Romanovsky Variation
VPZ09u C68 Exchange, Alekhine Variation
kyu1xr C69 Exchange Variation, Alapin Gambit
kVw3Rd C69 Exchange Variation, Bronstein Variation
aTas17 C69 Exchange Variation, Gligoric Variation
o2Mch0 C69 Exchange Variation, King's Bishop Variation
4F1EUt C69 Exchange Variation, Normal Variation
KMyVR4 C70 Bird's Defense Deferred
VGtAmU C70 Morphy Defense
xfjwxL C70 Morphy Defense, Alapin's Defense Deferred
s8OEYx C70 Morphy Defense, Caro Variation
VND5NY C70 Morphy Defense, Classical Defense Deferred
NJVMIK C70 Morphy Defense, Cozio Defense
YjBg6T C70 Morphy Defense, Fianchetto Defense Deferred
2vpKPv C70 Morphy Defense, Graz Variation
AjdaDb C70 Morphy Defense, Norwegian Variation
rVt5u6 C70 Morphy Defense, Norwegian Variation, Nightingale Gambit
bPl7hg C70 Morphy Defense, Schliemann Defense Deferred
M4Kd7C C70 Morphy Defense, Schliemann Defense Deferred, Jaenisch Gambit Deferred
F9318n C71 Morphy Defense, Modern Steinitz Defense
MNuHDn C71 Morphy Defense, Modern Steinitz Defense
y9bme4 C71 Morphy Defense, Modern Steinitz Defense
bQrjyC C71 Noah's Ark Trap
jyMh0p C72 Closed, Kecskemet Variation
AAejBC C72 Morphy Defense, Modern Steinitz Defense
SujllH C73 Morphy Defense, Modern Steinitz Defense
AacsnF C73 Morphy Defense, Modern Steinitz Defense
U94dLr C74 Morphy Defense, Modern Steinitz Defense
peVNgf C74 Morphy Defense, Modern Steinitz Defense
mJj20d C74 Morphy Defense, Modern Steinitz Defense, Siesta Variation
xj4N6E C75 Morphy Defense, Modern Steinitz Defense
nJJwrt C75 Morphy Defense, Modern Steinitz Defense
PQ58MV C76 Morphy Defense, Modern Steinitz Defense, Fianchetto Variation
JLfOw1 C77 Morphy Defense, Anderssen Variation
RwOrqg C77 Morphy Defense, Bayreuth Variation
7x7a87 C77 Morphy Defense, Duras Variation
Vvbbv2 C77 Morphy Defense, Jaffe Gambit
2HBosD C77 Morphy Defense, Mackenzie Variation
CFvUgb C77 Morphy Defense, Tarrasch Variation
4F3ZNS C77 Morphy Defense, Wormald Attack
6Cm0dz C77 Wormald Attack, Grünfeld Variation
2AKTBg C78 Brix Variation
apAElF C78 Central Countergambit
HwVztj C78 Morphy Defense
Gfwxh5 C78 Morphy Defense
ypC0p1 C78 Morphy Defense, Arkhangelsk Variation
cTgVvp C78 Morphy Defense, Møller Variation
I-XOc2 C78 Morphy Defense, Neo-Arkhangelsk Variation
npm81m C78 Morphy Defense, Wing Attack
juTp0I C78 Rabinovich Variation
sjF_FD C79 Morphy Defense, Steinitz Deferred
J5MlJE C79 Morphy Defense, Steinitz Deferred
LHHuYZ C79 Steinitz Defense Deferred, Boleslavsky Variation
PeOjUZ C79 Steinitz Defense Deferred, Lipnitsky Variation
gDf122 C80 Morphy Defense, Tartakower Variation
4Og3Ya C80 Open
XpE4lq C80 Open
-92-1x C80 Open
nTH8QC C80 Open
a07KXU C80 Open, Berger Variation
4TOYFs C80 Open, Bernstein Variation
F1SLKv C80 Open, Bernstein Variation, Luther Line
UYaahd C80 Open, Friess Attack
spsRpX C80 Open, Harksen Gambit
Ob2KWZ C80 Open, Karpov Gambit
rpGUnz C80 Open, Knorre Variation
H_zVuq C80 Open, Main Line
-tMidi C80 Open, Richter Variation
tYkCfh C80 Open, Riga Variation
Wg6966 C80 Open, Schlechter Defense
No7npk C80 Open, Skipworth Gambit
SnVh-F C80 Open, Zukertort Variation
8igg6X C81 Open, Howell Attack
sM3vEj C81 Open, Howell Attack
o_4Of3 C81 Open, Howell Attack, Ekstrom Variation
0kilPk C82 Open
JdtCL1 C82 Open, Berlin Variation
IStgwH C82 Open, Dilworth Variation
hxhkC0 C82 Open, Italian Variation
9BR_DU C82 Open, Motzko Attack
yL4X9S C82 Open, Motzko Attack, Nenarokov Variation
8UqwQl C82 Open, St. Petersburg Variation
gv4Z3R C83 Open, Breslau Variation
2SNgCy C83 Open, Classical Defense
GbtoMq C83 Open, Classical Defense
vLR7dT C83 Open, Classical Defense, Main Line
ZXUTGz C83 Open, Malkin Variation
Nfxpfd C83 Open, Tarrasch Trap
7ihP0H C84 Closed
uafBp6 C84 Closed, Basque Gambit
69uCw2 C84 Closed, Center Attack
swzs-v C84 Closed, Center Attack, Basque Gambit
OSRDvE C84 Closed, Martinez Variation
chuCvx C84 Closed, Morphy Attack
0tTuWp C85 Closed, Delayed Exchange
L9LHtr C86 Closed, Worrall Attack
Wjw8Ee C86 Closed, Worrall Attack, Castling Line
l_p_zD C86 Closed, Worrall Attack, Castling Line
u9ZdUR C86 Closed, Worrall Attack, Delayed Castling Line
DHXA2m C87 Closed, Averbakh Variation
n-WB22 C88 Closed
ZbL6XS C88 Closed
6ewng7 C88 Closed, Alekhine Gambit
7_uXEO C88 Closed, Anti-Marshall
s9wH9L C88 Closed, Balla Variation
O8mBSC C88 Closed, Leonhardt Variation
JnP0o4 C88 Closed, Rosen Attack
H7UWT2 C88 Closed, Trajkovic Counterattack
96R7fF C88 Noah's Ark Trap
p4Lq89 C89 Marshall Attack
vfrGZT C89 Marshall Attack
Qy7UDw C89 Marshall Attack, Main Line
PIelw8 C89 Marshall Attack, Main Line, Spassky Variation
iOj29v C89 Marshall Attack, Modern Main Line
P24pVN C89 Marshall Attack, Modern Variation
iqN3f6 C89 Marshall Attack, Original Marshall Attack
NOtVNV C89 Marshall Attack, Re3 Variation
mrVS9I C89 Marshall Attack, Steiner Variation
ukWMdq C90 Closed
9bsjVr C90 Closed, Lutikov Variation
rr_f2k C90 Closed, Pilnik Variation
EzbMzW C90 Closed, Suetin Variation
go2QDS C91 Closed, Bogoljubow Variation
xGpgkR C91 Closed, Yates Variation
CkIaIq C91 Closed, Yates Variation, Short Attack
i6oyRV C92 Closed
mRG7NH C92 Closed, Flohr System
ukkOuN C92 Closed, Karpov Variation
7DB-a5 C92 Closed, Kholmov Variation
THH_bD C92 Closed, Smyslov-Breyer-Zaitsev Hybrid
GIKmt7 C92 Closed, Zaitsev System
OPWrFp C93 Closed, Smyslov Defense
fkQSRa C94 Closed, Breyer Defense
aApj_H C94 Closed, Breyer Defense, Quiet Variation
fWmy-Y C95 Closed, Breyer
DYVWpT C95 Closed, Breyer Defense
x6aaPQ C95 Closed, Breyer Defense
Y768NU C95 Closed, Breyer Defense, Zaitsev Hybrid
vZb6lT C96 Closed, Borisenko Variation
EG4pmk C96 Closed, Chigorin Defense
i5Ygpj C96 Closed, Chigorin Defense
W0Je_c C96 Closed, Chigorin Defense, Gajewski Gambit
C5YNaZ C96 Closed, Keres Defense
Qy3pnp C96 Closed, Rossolimo Defense
sd4oKW C97 Closed, Chigorin Defense
TSRtsN C97 Closed, Chigorin Defense
1g4zJb C97 Closed, Chigorin, Yugoslav System
78XZFr C98 Closed, Chigorin Defense
PDv1Fw C98 Closed, Chigorin Defense
ztPRMr C99 Closed, Chigorin Defense, Panov System
=Réti Opening
yWqjaW A09
cVZvoi A09 Advance Variation
7dGo5T A09 Advance Variation, Michel Gambit
phtX-h A09 Advance Variation, Navara Gambit
ZbAAk3 A09 Penguin Variation
y__Cd0 A09 Reversed Blumenfeld Gambit
LJB9uL A09 Réti Accepted
6jSjKC A09 Réti Gambit, Keres Variation
xFVBsL A09 Zilbermints Gambit
O992yI A11 Anglo-Slav Variation, Gurevich System
UZwf5- A11 Anglo-Slav Variation, Gurevich System
VskNMc A11 Anglo-Slav Variation, Gurevich System
ARjEdW A11 Anglo-Slav Variation, Gurevich System
1kh9Bf A11 Anglo-Slav Variation, Gurevich System
xhrWmL A11 Anglo-Slav Variation, with g3
dE7Ati A11 Anglo-Slav Variation, with g3
6JArhS A11 Anglo-Slav Variation, with g3
mJhgFn A11 Anglo-Slav Variation, with g3
LNQtPf A11 Anglo-Slav Variation, with g3
GljDT5 A11 Anglo-Slav Variation, with g3
zgk688 A12 Anglo-Slav Variation
PsN1PY A12 Anglo-Slav Variation, Bled Variation
C76KdC A12 Anglo-Slav Variation, Bogoljubow Variation
58EPnc A12 Anglo-Slav Variation, Bogoljubow Variation
NWoJ3J A12 Anglo-Slav Variation, Bogoljubow Variation
JWSfgG A12 Anglo-Slav Variation, Bogoljubow Variation
0ma_5B A12 Anglo-Slav Variation, Capablanca Variation
mpHbao A12 Anglo-Slav Variation, Capablanca Variation
X7tepd A12 Anglo-Slav Variation, Capablanca Variation
wAVuAC A12 Anglo-Slav Variation, London Defensive System
HqLiRD A12 Anglo-Slav Variation, London Defensive System
3FyASO A12 Anglo-Slav Variation, London Defensive System
vkU2Mm A12 Anglo-Slav Variation, London Defensive System
LfQIY0 A12 Anglo-Slav Variation, New York System
wrhvb- A12 Anglo-Slav Variation, New York System
1UnRV1 A12 Anglo-Slav Variation, New York System
pwzzRE A12 Anglo-Slav Variation, Torre System
CuRcHb A12 Anglo-Slav Variation, Torre System
Kti7mp A12 Anglo-Slav Variation, Torre System
moj45q A12 Anglo-Slav Variation, Torre System
YOfsHD A12 Anglo-Slav Variation, with dxc4
UMCCqU A14 Anglo-Slav Variation
xQb7D3 A14 Anglo-Slav Variation, Bogoljubow Variation, Stonewall Line
=Saragossa Opening
W5zchh A00
=Scandinavian Defense
OVqLCz B01
YSiMIx B01
EbpgjF B01 Anderssen Counterattack
qLYRHF B01 Anderssen Counterattack, Collijn Variation
1NpmMZ B01 Anderssen Counterattack, Goteborg System
5PGXuS B01 Anderssen Counterattack, Orthodox Attack
q4LzBn B01 Blackburne Gambit
3bimTm B01 Blackburne-Kloosterboer Gambit
ibn7DM B01 Boehnke Gambit
wcXgXE B01 Bronstein Variation
4Incao B01 Classical Variation
ooaFRr B01 Grünfeld Variation
UpisyK B01 Gubinsky-Melts Defense
pNV2Ux B01 Icelandic-Palme Gambit
Ss2pc5 B01 Kiel Variation
BYBfvb B01 Kloosterboer Gambit
7Tqm1j B01 Kádas Gambit
10XYjI B01 Lasker Variation
6RQxt7 B01 Main Line
vyacyo B01 Main Line, Leonhardt Gambit
v4Cuad B01 Main Line, Mieses Variation
C4HU70 B01 Marshall Variation
3RcXow B01 Mieses-Kotroc Variation
KaAUcs B01 Modern Variation
_44_Te B01 Modern Variation
OMuWW_ B01 Modern Variation, Gipslis Variation
FeNkjU B01 Modern Variation, Wing Gambit
Bi_ejA B01 Panov Transfer
Bq593F B01 Portuguese Gambit
_z7bnO B01 Portuguese Gambit, Banker Variation
mzSX0h B01 Portuguese Gambit, Classical Variation
8UXmRc B01 Portuguese Gambit, Correspondence Refutation
hGwzQV B01 Portuguese Gambit, Elbow Variation
TiKHED B01 Portuguese Gambit, Jadoul Variation
_qCW3J B01 Portuguese Gambit, Lusophobe Variation
4xvAfe B01 Portuguese Gambit, Melbourne Shuffle Variation
wKJDuC B01 Portuguese Gambit, Wuss Variation
e3_3Hi B01 Richter Variation
h8W47b B01 Richter Variation
b11Joj B01 Schiller-Pytel Variation
Nqbk7C B01 Schiller-Pytel Variation, Modern Variation
lZheeZ B01 Valencian Variation
vkJZ5K B01 Valencian Variation, Ilundain Variation
TeT5T9 B01 Valencian Variation, Main Line
G7k4ds B01 Zilbermints Gambit
=Scotch Game
4Oz7UF C44
p1l1oR C44
9J5kcF C44 Benima Defense
FWitLx C44 Cochrane Variation
hqkVx8 C44 Cochrane-Shumov Defense
GYFfA4 C44 Göring Gambit
0B8nKl C44 Göring Gambit, Bardeleben Variation
Q92GND C44 Göring Gambit, Double Pawn Sacrifice
FIp26L C44 Göring Gambit, Main Line
WQUgub C44 Hanneken Variation
-gQevl C44 Haxo Gambit
5Qi7dv C44 Lolli Variation
51xX1e C44 Lolli Variation
9pxS7Z C44 Napoleon Gambit
c2hjrx C44 Relfsson Gambit
9xX7vO C44 Scotch Gambit
iHckjI C44 Scotch Gambit, Advance Variation
Mf0do7 C44 Scotch Gambit, Cochrane-Anderssen Variation
GsfXh- C44 Scotch Gambit, Dubois Réti Defense
qePMII C44 Scotch Gambit, Göring Gambit Declined
an78IN C44 Scotch Gambit, Kingside Variation
b3c7l8 C44 Scotch Gambit, London Defense
AHEL4r C44 Scotch Gambit, Sarratt Variation
qupVra C44 Sea-Cadet Mate
yvgezj C44 Vitzthum Attack
AFk6Md C45
2vjrVn C45
3cQKq- C45 Alekhine Gambit
3Tyn-o C45 Blumenfeld Attack
K8qWPR C45 Braune Variation
4qFiuy C45 Classical Variation
yXLsEc C45 Classical Variation, Blackburne Attack
qTiFVu C45 Classical Variation, Intermezzo Variation
cR8BMB C45 Classical Variation, Millennium Variation
zVHq_F C45 Fraser Variation
8UdzKv C45 Ghulam-Kassim Variation
LPuQ7j C45 Gottschall Variation
C0wt2p C45 Horwitz Attack
BRQWhY C45 Horwitz Attack, Blackburne Variation
PJWLAO C45 Malaniuk Variation
6uJby3 C45 Meitner Variation
hTaSrz C45 Mieses Variation
sjWZVc C45 Modern Defense
a8u8sl C45 Paulsen Attack
5UBGzI C45 Paulsen Variation
5RVYin C45 Paulsen, Gunsberg Defense
gzbQqs C45 Potter Variation
zQyazf C45 Romanishin Variation
knL4op C45 Rosenthal Variation
KbHpGc C45 Schmidt Variation
r1M1OG C45 Steinitz Variation
S9q-Z0 C45 Steinitz Variation
LoEIGI C45 Tartakower Variation
=Semi-Slav Defense
jmRu-7 D30 Quiet Variation
0q00Vf D30 Quiet Variation
fPFAwX D31 Accelerated Move Order
kjvq1I D31 Anti-Noteboom, Stonewall Variation
AzA-rf D31 Anti-Noteboom, Stonewall Variation, Portisch Gambit
dQuoIs D31 Gunderam Gambit
fSuSfc D31 Marshall Gambit
ZIZpXX D31 Marshall Gambit, Forgotten Variation
Pg9aVP D31 Marshall Gambit, Main Line
otTQ8v D31 Marshall Gambit, Tolush Variation
zb5Nxz D31 Noteboom Variation
2LkMen D31 Noteboom Variation, Abrahams Variation
3bw3g3 D31 Noteboom Variation, Anti-Noteboom Gambit
kXPC-g D31 Noteboom Variation, Anti-Noteboom Variation
wcOJkT D31 Noteboom Variation, Anti-Noteboom Variation, Belyavsky Line
S-1g_1 D43
BINpIC D43 Anti-Moscow Gambit
t0lo16 D43 Hastings Variation
LggeZm D43 Moscow Variation
G32M98 D44 Botvinnik Variation
KgxKjs D44 Botvinnik Variation
4jiHWx D44 Botvinnik Variation, Alatortsev System
xXr-zl D44 Botvinnik Variation, Ekstrom Variation
CHGj64 D44 Botvinnik Variation, Lilienthal Variation
zcMI_K D44 Botvinnik Variation, Szabo Variation
b24SDI D45 Accelerated Meran Variation
84yx6j D45 Main Line
75YA05 D45 Normal Variation
jzVkjX D45 Normal Variation
yXRfkH D45 Normal Variation
gxuGyM D45 Rubinstein System
PIsdMV D45 Stoltz Variation
-043n1 D45 Stoltz Variation
F2cjRm D45 Stoltz Variation
T9H3Ot D45 Stoltz Variation
SOj9g1 D45 Stoltz Variation
aOu2jC D45 Stoltz Variation, Center Variation
C8Nzs2 D45 Stoltz Variation, Center Variation, Mikhalchishin Line
KGiBU1 D45 Stoltz Variation, Shabalov Attack
sILzEF D45 Stonewall Defense
8O9pwx D46 Bogoljubow Variation
2szvth D46 Chigorin Defense
32xMGK D46 Chigorin Defense
c0ZP3a D46 Chigorin Defense
EkZ5L0 D46 Chigorin Defense
e7qyor D46 Chigorin Defense
7trw84 D46 Chigorin Defense
tRQ5-k D46 Chigorin Defense
-OzD-T D46 Chigorin Defense
we5lXu D46 Main Line
S58gkU D46 Main Line
dPYIVK D46 Romih Variation
hNz3CK D47 Meran Variation
73157Z D47 Meran Variation, Lundin Variation
2J-9Nm D47 Meran Variation, Wade Variation
b2oLUE D47 Meran Variation, Wade Variation, Kaidanov Gambit
q0duOo D47 Meran Variation, Wade Variation, Larsen Variation
2Xd8q5 D47 Semi-Meran Variation
vLYXtA D48 Meran Variation
lCgV2L D48 Meran Variation
s2F3S6 D48 Meran Variation, Old Variation
DRgFD7 D48 Meran Variation, Pirc Variation
cPrWf8 D48 Meran Variation, Reynolds' Variation
Bkdee4 D49 Meran Variation, Blumenfeld Variation
f935v7 D49 Meran Variation, Rabinovich Variation
Km86w2 D49 Meran Variation, Rellstab Attack
K8xtw1 D49 Meran Variation, Sozin Variation
rZCxPP D49 Meran Variation, Sozin Variation
Eo_n2h D49 Meran Variation, Stahlberg Variation
=Semi-Slav Defense Accepted
opa7HW D44
=Sicilian Defense
20AaYg B20
_NBShZ B20 Amazon Attack
lQYWPy B20 Big Clamp Formation
icjjvB B20 Bowdler Attack
BSMlBh B20 Brick Variation
cuux4n B20 Czerniak Attack
LoaaVE B20 Czerniak Attack, Queen Fianchetto Variation
sTazgV B20 Euwe Attack, Prins Gambit
LX3YNq B20 Gloria Variation
d3if7R B20 Grob Variation
TRrQC5 B20 Keres Variation
f4Csdr B20 King David's Opening
WkPuCZ B20 Kronberger Variation
2T0gx3 B20 Kronberger Variation, Nemeth Gambit
nzjOTb B20 Lasker-Dunne Attack
IwbESN B20 Mengarini Variation
eA8rk0 B20 Myers Attack, with a4
R6asEi B20 Myers Attack, with h4
XUOqCY B20 Staunton-Cochrane Variation
UjNpw3 B20 Wing Gambit
nicNpB B20 Wing Gambit, Abrahams Variation
0nCz2R B20 Wing Gambit, Carlsbad Variation
bbf97L B20 Wing Gambit, Marienbad Variation
jlIb5V B20 Wing Gambit, Marshall Variation
QxWbVZ B20 Wing Gambit, Nanu Gambit
wPTVml B20 Wing Gambit, Romanian Defense
c3XBuo B20 Wing Gambit, Santasiere Variation
cnv5Kw B21 Coles Sicilian Gambit
LiMaH8 B21 Halasz Gambit
29wRFv B21 McDonnell Attack
WetAUS B21 McDonnell Attack, Tal Gambit
Rh8dWf B21 McDonnell Attack, Toilet Variation
AVmR1c B21 Morphy Gambit
W0It94 B21 Morphy Gambit, Andreaschek Gambit
SCB5lR B21 Smith-Morra Gambit
a8uYEq B21 Smith-Morra Gambit
Joj8tR B21 Smith-Morra Gambit Accepted
S6R6n7 B21 Smith-Morra Gambit Accepted, Chicago Defense
VWjheV B21 Smith-Morra Gambit Accepted, Chicago Defense
L1zQcX B21 Smith-Morra Gambit Accepted, Classical Formation
2UPpQ2 B21 Smith-Morra Gambit Accepted, Danish Variation
q8HuSR B21 Smith-Morra Gambit Accepted, Fianchetto Defense
8FexAp B21 Smith-Morra Gambit Accepted, Finegold Defense
TK4uO1 B21 Smith-Morra Gambit Accepted, Kan Formation
7Doc7x B21 Smith-Morra Gambit Accepted, Larsen Defense
Oa1uBo B21 Smith-Morra Gambit Accepted, Morphy Defense
MMfaEH B21 Smith-Morra Gambit Accepted, Morphy Defense Deferred
D9A2Hx B21 Smith-Morra Gambit Accepted, Paulsen Formation
Emmg-7 B21 Smith-Morra Gambit Accepted, Pin Defense
pgu_yC B21 Smith-Morra Gambit Accepted, Scheveningen Formation
qq8P_9 B21 Smith-Morra Gambit Accepted, Siberian Variation
tzJZdj B21 Smith-Morra Gambit Accepted, Siberian Variation, Siberian Trap
2JpdtE B21 Smith-Morra Gambit Accepted, Sozin Formation
zC-GlG B21 Smith-Morra Gambit Accepted, Taimanov Formation
LrJuFg B21 Smith-Morra Gambit Declined, Alapin Formation
CxSJlm B21 Smith-Morra Gambit Declined, Center Formation
xTG6GP B21 Smith-Morra Gambit Declined, Dubois Variation
aubdfU B21 Smith-Morra Gambit Declined, Push Variation
A7s31- B21 Smith-Morra Gambit Declined, Scandinavian Formation
X77qrg B21 Smith-Morra Gambit Declined, Wing Formation
olpzQV B22 Alapin Variation
EaSojt B22 Alapin Variation, Anti-Alapin Gambit
4pUFod B22 Alapin Variation, Barmen Defense
8NnhuH B22 Alapin Variation, Barmen Defense
vMKr9M B22 Alapin Variation, Barmen Defense
qXO2L3 B22 Alapin Variation, Barmen Defense, Central Exchange
iVY4JV B22 Alapin Variation, Barmen Defense, Endgame Variation
mmg3h_ B22 Alapin Variation, Barmen Defense, Milner-Barry Attack
kF2VUY B22 Alapin Variation, Barmen Defense, Modern Line
jzf1fd B22 Alapin Variation, Smith-Morra Declined
CNzZlB B22 Alapin Variation, Stoltz Attack
jyk4rb B22 Alapin Variation, Stoltz Attack, Ivanchuk Line
dfJAHz B22 Delayed Alapin Variation
HbVQER B22 Delayed Alapin Variation
4C3X1q B22 Heidenfeld Variation
t__jsZ B23 Closed
HAQY8f B23 Closed
vU8K3H B23 Closed
S9LBg5 B23 Closed, Carlsen Variation
j8gMbB B23 Closed, Chameleon Variation
iLXTt2 B23 Closed, Grob Attack
FJjKw5 B23 Closed, Korchnoi Defense
SrDrTH B23 Closed, Portland Attack
qGCb2k B23 Closed, Traditional
HBGD3p B23 Grand Prix Attack
UBludc B23 Grand Prix Attack, Schofman Variation
39DK-r B24 Closed
82SnI0 B24 Closed
DZ45WU B24 Closed, Fianchetto Variation
3LSpFQ B24 Closed, Smyslov Variation
9F3YBJ B25 Closed
4OcJjF B25 Closed
9419U6 B25 Closed, Botvinnik Defense, Edge Variation
Z7lZ9P B25 Closed, Botvinnik Defense, with Nge2
CKyKEM B25 Closed, Botvinnik Defense, with f4
LxrDvD B26 Closed
rxWaxA B27
pb-qa3 B27 Acton Extension
W6A3ZQ B27 Brussels Gambit
NWAwzR B27 Bücker Variation
ndnkMx B27 Double-Dutch Gambit
cPsTL5 B27 Frederico Variation
yNDaUx B27 Hyperaccelerated Dragon
-J_sjp B27 Hyperaccelerated Dragon
ff6CUF B27 Hyperaccelerated Pterodactyl
c42X4l B27 Hyperaccelerated Pterodactyl, Exchange Variation
19UFTu B27 Jalalabad Variation
4tuCZT B27 Katalimov Variation
IAGNhO B27 Mongoose Variation
lspKXb B27 Polish Gambit
ChdO0b B27 Quinteros Variation
gI0Ki8 B28 O'Kelly Variation
BwtSqA B28 O'Kelly Variation, Aronin System
DwZfSX B28 O'Kelly Variation, Kieseritzky System
Bxv11x B28 O'Kelly Variation, Maróczy Bind
Z1mWqP B28 O'Kelly Variation, Maróczy Bind, Paulsen Line
TGagDw B28 O'Kelly Variation, Maróczy Bind, Robatsch Line
x7SeO4 B28 O'Kelly Variation, Normal System
fgB0WY B28 O'Kelly Variation, Normal System, Cortlever Gambit
GZ40n4 B28 O'Kelly Variation, Normal System, Smith-Morra Line
MTKU97 B28 O'Kelly Variation, Normal System, Taimanov Line
mctoGZ B28 O'Kelly Variation, Normal System, Zagorovsky Line
_j8EYZ B28 O'Kelly Variation, Quiet System
kzByW0 B28 O'Kelly Variation, Réti System
1V_i3K B28 O'Kelly Variation, Venice System
t4imYM B28 O'Kelly Variation, Venice System, Barcza Line
rp2b2_ B28 O'Kelly Variation, Venice System, Gambit Line
u5Leyg B28 O'Kelly Variation, Venice System, Ljubojevic Line
c0CCP0 B28 O'Kelly Variation, Venice System, Steiner Line
7iNC8- B28 O'Kelly Variation, Wing Gambit
vIu0et B28 O'Kelly Variation, Yerevan System
X_Hdk1 B29 Nimzowitsch Variation
bGsjQY B29 Nimzowitsch Variation, Advance Variation
aluqz3 B29 Nimzowitsch Variation, Closed Variation
6qMxu2 B29 Nimzowitsch Variation, Exchange Variation
da3EeR B29 Nimzowitsch Variation, Main Line
Bfm55Y B30 Closed, Anti-Sveshnikov Variation
YEBxlp B30 Closed, Anti-Sveshnikov Variation, Kharlov-Kramnik Line
tcHibv B30 Closed, Anti-Sveshnikov Variation, with Nf6
PgF40c B30 Closed, Anti-Sveshnikov Variation, with d6
9NM22R B30 Nyezhmetdinov-Rossolimo Attack
qEvTFV B30 Nyezhmetdinov-Rossolimo Attack, Brooklyn Retreat Defense
34fcrE B30 Nyezhmetdinov-Rossolimo Attack, San Francisco Gambit
ZPAkMA B30 Old Sicilian
Hy1yhO B30 Portsmouth Gambit
ITyewm B31 Nyezhmetdinov-Rossolimo Attack, Fianchetto Variation
V6fr3A B31 Nyezhmetdinov-Rossolimo Attack, Fianchetto Variation, Gufeld Gambit
HcGjon B31 Nyezhmetdinov-Rossolimo Attack, Fianchetto Variation, Lutikov Gambit
aq1n5B B31 Nyezhmetdinov-Rossolimo Attack, Fianchetto Variation, Totsky Attack
-yvaYd B31 Nyezhmetdinov-Rossolimo Attack, Gurgenidze Variation
dUFLvV B32 Accelerated Dragon
xbZHRy B32 Flohr Variation
8NnEwN B32 Franco-Sicilian Variation
RFqEIL B32 Godiva Variation
7BdD21 B32 Kalashnikov Variation
YLS0KW B32 Löwenthal Variation
Rr7-pc B32 Nimzo-American Variation
fyfvIq B32 O'Kelly Variation, Maróczy Bind, Geller Line
6oTVBy B32 Open
xgLlN7 B32 Open
Eeyg8F B32 Open
mXB2Ue B33 Lasker-Pelikan Variation
jQoGRz B33 Lasker-Pelikan Variation, Bird Variation
vcYStG B33 Lasker-Pelikan Variation, Exchange Variation
Jh8cPI B33 Lasker-Pelikan Variation, Retreat Variation
MrI9HR B33 Lasker-Pelikan Variation, Schlechter Variation
34kJG_ B33 Lasker-Pelikan Variation, Sveshnikov Variation
qvmANH B33 Lasker-Pelikan Variation, Sveshnikov Variation
BeCLpB B33 Lasker-Pelikan Variation, Sveshnikov Variation, Chelyabinsk Variation
6Eodhd B33 Lasker-Pelikan Variation, Sveshnikov Variation, Novosibirsk Variation
YwccTN B33 Lasker-Pelikan Variation, Sveshnikov Variation, Peresypkin's Sacrifice
qRTMJl B33 Open
t-WLu8 B34 Accelerated Dragon, Exchange Variation
jyVHF9 B34 Accelerated Dragon, Modern Variation
NPGhx0 B35 Accelerated Dragon, Modern Bc4 Variation
A-n1ag B35 Dragon Variation, Modern Bc4 Variation
cYV9fr B36 Accelerated Dragon, Maróczy Bind
3u2q5g B36 Accelerated Dragon, Maróczy Bind, Gurgenidze Variation
HrDwfh B37 Accelerated Dragon, Maróczy Bind
hHXFfy B37 Accelerated Dragon, Simagin Variation
N1OCuR B38 Accelerated Dragon, Maróczy Bind
pEOdD4 B39 Accelerated Dragon, Maróczy Bind, Breyer Variation
6RpdP0 B40 Alapin Variation, Sherzer Variation
GK0Y3b B40 Delayed Alapin Variation, with e6
a5QAFf B40 Drazic Variation
MILRnM B40 French Variation
YrBpqB B40 French Variation, Normal
X4p3lo B40 French Variation, Open
UPMZdv B40 French Variation, Westerinen Attack
QNKovc B40 Gaw-Paw Variation
23psjN B40 Kan Variation, Wing Attack, Fianchetto Variation
wfBvgi B40 Kramnik Variation
vX7koi B40 Kveinis Variation
Qo-GP6 B40 Marshall Counterattack
CGqU1n B40 Paulsen-Basman Defense
zpsZa5 B40 Pin Variation
rxJrLh B40 Pin Variation, Jaffe Variation
HS_uSJ B40 Pin Variation, Koch Variation
ugWtYX B40 Smith-Morra Gambit Deferred
x7iqKl B40 Wing Gambit Deferred
pSJ3Uv B41 Kan Variation
-K-qe2 B41 Kan Variation, Maróczy Bind, Bronstein Variation
Ol-OlG B41 Kan Variation, Maróczy Bind, Bronstein Variation
j3tvj5 B41 Kan Variation, Maróczy Bind, Hedgehog Variation
SB4bVx B41 Kan Variation, Maróczy Bind, Réti Variation
6m6QCo B42 Kan Variation, Gipslis Variation
7CZEGy B42 Kan Variation, Modern Variation
uB42oL B42 Kan Variation, Polugaevsky Variation
TG2Rqy B42 Kan Variation, Swiss Cheese Variation
WQZzO_ B43 Kan Variation, Knight Variation
kJsUDB B43 Kan Variation, Wing Attack
Cp3pFn B43 Kan Variation, Wing Attack, Christiansen's Dream
2D8JYh B43 Kan Variation, Wing Attack, Spraggett Attack
hrrScM B44 Taimanov Variation
4rrpiF B44 Taimanov Variation, Gary Gambit
Uu-hnq B44 Taimanov Variation, Modern Line
zK6gR- B44 Taimanov Variation, Szén Variation
dqqzl1 B45 Four Knights Variation
fLmnza B45 Four Knights Variation, American Attack
rizcr4 B45 Four Knights Variation, Cobra Variation
QHAUDa B45 Four Knights Variation, Exchange Variation
tV5Ubm B45 Four Knights Variation, Sveshnikov Transfer
Dp4YI8 B45 Taimanov Variation
cIuqmY B46 Taimanov Variation
diRxze B47 Taimanov Variation, Bastrikov Variation
QmXDNf B47 Taimanov Variation, Bastrikov Variation, Ponomariov Gambit
-0uG5I B48 Taimanov Variation, Bastrikov Variation, English Attack
mj6TWP B49 Taimanov Variation, Bastrikov Variation
M9T5J0 B50
GV4tP4 B50
evcViF B50 Delayed Alapin Variation, Basman-Palatnik Double Gambit
WysbK9 B50 Delayed Alapin Variation, Basman-Palatnik Gambit
e0Ewd1 B50 Delayed Alapin Variation, with d6
IpWY_L B50 Kopec System
uhXYNp B50 Kotov Gambit
RqMfVF B50 Modern Variations
WL5HZb B50 Modern Variations, Anti-Qxd4 Move Order
Dn4wJo B50 Modern Variations, Anti-Qxd4 Move Order Accepted
9A130q B50 Modern Variations, Tartakower
Xn58xo B50 Wing Gambit, Deferred Variation
z746yJ B51 Moscow Variation
GGl84m B51 Moscow Variation, Dorfman Gambit
8aHLCK B51 Moscow Variation, Moscow Gambit
yQUvky B52 Moscow Variation, Haag Gambit
1mfOnO B52 Moscow Variation, Main Line
YyTrgm B52 Moscow Variation, Sokolsky Variation
UIdsLC B53 Chekhover Variation
IFEKwh B53 Chekhover Variation, Zaitsev Defense
7nWV6m B54 Dragon Variation, Accelerated Dragon
LaMj2n B54 Modern Variations, Ginsberg Gambit
vht9dl B54 Modern Variations, Main Line
-UjUtD B54 Prins Variation
i8fpXh B55 Prins Variation, Venice Attack
Xpk8xx B56 Classical Variation
wvcLkJ B56 Classical Variation, Fianchetto Variation
QGYHgU B56 Kupreichik Variation
FceTRJ B56 Spielmann Variation
5cri5z B56 Venice Attack
dljp8J B57 Classical Variation, Anti-Sozin Variation
9eRCC4 B57 Classical Variation, Sozin Attack
kB_GRu B57 Magnus Smith Trap
s3k0ZO B58 Boleslavsky Variation
mkXW-9 B58 Boleslavsky Variation, Louma Variation
rEBWwO B58 Classical Variation
hqpGxr B58 Classical Variation, Dragon Transfer
Tk0Egr B59 Boleslavsky Variation
X31Y6p B60 Richter-Rauzer Variation
S6tvcJ B60 Richter-Rauzer Variation, Dragon Variation
KWICTb B60 Richter-Rauzer Variation, Modern Variation
4Q-s18 B61 Richter-Rauzer Variation, Modern Variation
dh4BW7 B62 Richter-Rauzer Variation
KOWmLe B62 Richter-Rauzer Variation
i022yH B62 Richter-Rauzer Variation, Exchange Variation
M3bBKS B62 Richter-Rauzer Variation, Podebrady Variation
1siyX5 B62 Richter-Rauzer Variation, Vitolins Variation
HhQ5t5 B63 Richter-Rauzer Variation, Classical Variation
n6NBeM B63 Richter-Rauzer Variation, Classical Variation, Kantscher Line
SCljIL B63 Richter-Rauzer Variation, Ivanov Variation
hsjbhp B63 Richter-Rauzer Variation, Traditional Variation
D8HaKG B64 Richter-Rauzer Variation, Classical Variation
V_Q11Z B64 Richter-Rauzer Variation, Classical Variation
D9he0o B65 Richter-Rauzer Variation, Classical Variation
MWW_AQ B65 Richter-Rauzer Variation, Rauzer Attack
RVeaWS B66 Richter-Rauzer Variation, Neo-Modern Variation, Early Deviations
2dbJx_ B67 Richter-Rauzer Variation, Neo-Modern Variation
NFe84Z B68 Richter-Rauzer Variation, Neo-Modern Variation
Gl0j1M B69 Richter-Rauzer Variation, Neo-Modern Variation, Nyezhmetdinov Attack
OBduEB B70 Dragon Variation
QF_GYi B70 Dragon Variation, Classical Variation
Ee34yx B70 Dragon Variation, Fianchetto Variation
5N_bcD B71 Dragon Variation, Levenfish Variation
h4mOGV B71 Dragon Variation, Levenfish Variation, Main Line
l6lTFb B72 Dragon Variation
zNlyTZ B72 Dragon Variation, Classical Variation
NRwwJ- B72 Dragon Variation, Classical Variation
DU2XBQ B72 Dragon Variation, Classical Variation
cU2uyl B72 Dragon Variation, Classical Variation, Amsterdam Variation
vVKCFc B72 Dragon Variation, Classical Variation, Grigoriev Variation
Tbj1D0 B73 Dragon Variation, Classical Variation
lGxZY5 B73 Dragon Variation, Classical Variation, Battery Variation
Yma23L B73 Dragon Variation, Classical Variation, Zollner Gambit
5aJqlZ B74 Dragon Variation, Classical Variation, Alekhine Line
WNXCOo B74 Dragon Variation, Classical Variation, Bernard Defense
q9H0qM B74 Dragon Variation, Classical Variation, Maróczy Line
506_b6 B74 Dragon Variation, Classical Variation, Normal Line
noBH8c B74 Dragon Variation, Classical Variation, Spielmann Variation
gD78Ro B74 Dragon Variation, Classical Variation, Stockholm Attack
P4pecx B74 Dragon Variation, Classical Variation, Tartakower Line
K4IC-m B75 Dragon Variation, Yugoslav Attack, Belezky Line
5FiZ5m B75 Dragon Variation, Yugoslav Attack, Early Deviations
cO7R7l B75 Dragon Variation, Yugoslav Attack, Hungarian Dragon
2KAV88 B76 Dragon Variation, Yugoslav Attack
doL9JR B76 Dragon Variation, Yugoslav Attack
bDXzop B76 Dragon Variation, Yugoslav Attack, Modern Line
VuzW_0 B76 Dragon Variation, Yugoslav Attack, Panov Variation
HYpcd3 B77 Dragon Variation, Yugoslav Attack, Byrne Variation
EFbshD B77 Dragon Variation, Yugoslav Attack, Czerniak Variation
0N5Efp B77 Dragon Variation, Yugoslav Attack, Czerniak Variation
vqRYT0 B77 Dragon Variation, Yugoslav Attack, Main Line
d_oTVs B77 Dragon Variation, Yugoslav Attack, Main Line
qTpvL7 B77 Dragon Variation, Yugoslav Attack, Main Line
op_KO3 B77 Dragon Variation, Yugoslav Attack, Sosonko Variation
tqQc8I B78 Dragon Variation, Yugoslav Attack
UsBoMs B78 Dragon Variation, Yugoslav Attack, Chinese Dragon
PNhU1d B78 Dragon Variation, Yugoslav Attack, Old Line
vyiDuE B78 Dragon Variation, Yugoslav Attack, Topalov Variation
cYYpie B79 Dragon Variation, Yugoslav Attack
smbDAq B79 Dragon Variation, Yugoslav Attack, Soltis Variation
L_HtD4 B80 Scheveningen Variation
HcdBeq B80 Scheveningen Variation, English Attack, with Qd2
df14Rr B80 Scheveningen Variation, Fianchetto Variation
uJzY8d B80 Scheveningen Variation, Vitolins Variation
F1HVX3 B81 Scheveningen Variation, Keres Attack
BP4nsN B82 Scheveningen Variation, Matanovic Attack
JxLxDJ B82 Scheveningen Variation, Tal Variation
rtY65W B83 Scheveningen Variation, Classical Variation
I5viHp B83 Scheveningen Variation, Modern Variation
804SW5 B83 Scheveningen Variation, Modern Variation
X5D_lL B83 Scheveningen Variation, Modern Variation
PVs_C4 B84 Najdorf Variation, Scheveningen Variation
Ovyiry B84 Scheveningen Variation, Classical Variation
RcV2cT B84 Scheveningen Variation, Classical Variation
DC-vEA B85 Scheveningen Variation, Classical Main Line
jkXxlZ B85 Scheveningen Variation, Classical Variation, Paulsen Variation
twvi6R B85 Scheveningen Variation, Classical Variation, Paulsen Variation
hToa_b B85 Scheveningen Variation, Classical Variation, Paulsen Variation
D7NyvW B86 Sozin Attack
ye5aiN B87 Sozin Attack, Flank Variation
iT_JCR B88 Sozin Attack, Fischer Variation
j9z0_N B88 Sozin Attack, Leonhardt Variation
CINDSy B89 Sozin Attack, Main Line
C5IOWh B89 Sozin Attack, Main Line, Sherbakov Variation
6pjpfF B89 Velimirovic Attack
DjIXeh B90 Najdorf Variation
0uY5gv B90 Najdorf Variation, Adams Attack
xQppPc B90 Najdorf Variation, Dekker Gambit
ny6p9- B90 Najdorf Variation, English Attack
fzAGpe B90 Najdorf Variation, English Attack
HQX41P B90 Najdorf Variation, English Attack
sTR4sX B90 Najdorf Variation, English Attack
ngY_LB B90 Najdorf Variation, English Attack
vfj39O B90 Najdorf Variation, English Attack, Anti-English
QwLcvY B90 Najdorf Variation, Lipnitsky Attack
FrGWOC B90 Najdorf Variation, Petronić Attack
_93iks B90 Najdorf Variation, Yates Variation
ytwNrn B90 Scheveningen Variation, Delayed Keres Attack
jY9Pr2 B90 Scheveningen Variation, Delayed Keres Attack, Perenyi Gambit
3sDQ5M B90 Scheveningen Variation, English Attack, with f3
Pe70FF B91 Najdorf Variation, Zagreb Variation
T516nL B92 Najdorf Variation, Opocensky Variation
DZAOaG B92 Najdorf Variation, Opocensky Variation
whWPvK B92 Najdorf Variation, Opocensky Variation, Modern Line
yw-vnK B92 Najdorf Variation, Opocensky Variation, Traditional Line
-rn05r B93 Najdorf Variation, Amsterdam Variation
E_AZBU B94 Najdorf Variation
JIwk8J B94 Najdorf Variation, Ivkov Variation
rLBYny B95 Najdorf Variation
Ws5EuL B96 Najdorf Variation
tI5t1G B96 Najdorf Variation, Neo-Classical Defense
urbT-9 B96 Najdorf Variation, Polugaevsky Variation
iJh5EH B96 Najdorf Variation, Polugaevsky Variation, Simagin Line
yLUR3L B97 Najdorf Variation, Poisoned Pawn Accepted
B4giqZ B97 Najdorf Variation, Poisoned Pawn Variation
v-rTjS B98 Najdorf Variation
JicL2X B98 Najdorf Variation, Browne Variation
vQlZx3 B98 Najdorf Variation, Goteborg Variation
y7wJue B98 Najdorf Variation, Traditional Line
fau2fF B99 Najdorf Variation, Main Line
=Slav Defense
gEJXp2 D10
VhVyPS D10
0jiPvJ D10
OokBJN D10 Diemer Gambit
LZ_-LK D10 Exchange Variation
LG4v61 D10 Exchange Variation, Boor Attack
Ln3MXW D10 Slav Gambit, Alekhine Attack
LLVJ7d D10 Winawer Countergambit
i9jp4h D10 Winawer Countergambit, Anti-Winawer Gambit
HsHNEQ D11 Bonet Gambit
3PCu2J D11 Breyer Variation
AF9NBa D11 Modern Line
zFAwDj D11 Modern Line
QZK_AV D11 Modern Line
mqW4U7 D11 Modern Line
AJ8HkV D11 Quiet Variation
Cnn7Wp D11 Quiet Variation, Pin Defense
TKx3SD D12 Quiet Variation, Amsterdam Variation
oUZf6W D12 Quiet Variation, Landau Variation
cOX7w3 D12 Quiet Variation, Schallopp Defense
7WK1uF D12 Quiet Variation, Schallopp Defense
cWweQj D13 Exchange Variation
7bLZHC D13 Exchange Variation, Schallopp Variation
QUP9YS D14 Exchange Variation, Symmetrical Line
BJZpaO D14 Exchange Variation, Trifunovic Variation
iJ5_H7 D15 Alekhine Variation
WlQaHX D15 Chebanenko Variation
SuLsNg D15 Chebanenko Variation
GC6WYG D15 Chebanenko Variation, Advance System
ilc1n- D15 Geller Gambit
9KqBdX D15 Geller Gambit
anRlU0 D15 Schlechter Variation
qw7Ze7 D15 Süchting Variation
Gt1YvB D15 Three Knights Variation
Zcsj7Q D15 Two Knights Attack
4lpzet D16 Alapin Variation
FJIAKZ D16 Smyslov Variation
4MSHpZ D16 Soultanbeieff Variation
d-Dwop D16 Steiner Variation
0j5IUe D17 Czech Variation
YCKzJy D17 Czech Variation, Bled Attack
WEHa60 D17 Czech Variation, Carlsbad Variation
lexJQF D17 Czech Variation, Carlsbad Variation, Morozevich Variation
7qJiW1 D17 Czech Variation, Krause Attack
UlUNiS D17 Czech Variation, Krause Attack, Fazekas Gambit
d1kkq8 D17 Czech Variation, Wiesbaden Variation
z68Nwa D17 Czech Variation, Wiesbaden Variation, Sharp Line
tT6DUD D18 Czech Variation, Classical System
-rRmPR D18 Czech Variation, Lasker Variation
li4vWr D19 Czech Variation, Classical System, Main Line
nbvzxP D19 Czech Variation, Dutch Variation
oLwgqM D19 Czech Variation, Dutch Variation, Sämisch Variation
=Slav Indian
Xw6i39 A40 Kudischewitsch Gambit
Bl9Acl A50
=Sodium Attack
nOmkm5 A00
QVD9rV A00 Celadon Variation
OHtKnh A00 Chenoboskion Variation
XihtQl A00 Durkin Gambit
=St. George Defense
VE-2aI B00
n6Cgxq B00 Polish Variation
1uhhho B00 San Jorge Variation
itUvw3 B00 Zilbermints Gambit
=Tarrasch Defense
UYymzI D32
S9V72U D32 Grünfeld Gambit
LZxzTK D32 Marshall Gambit
w5MjPW D32 Schara Gambit
tKZE9d D32 Symmetrical Variation
bMtDjx D32 Symmetrical Variation
STpRDQ D32 Tarrasch Gambit
kFO3NW D32 Two Knights Variation
-IjWqV D32 von Hennig Gambit
DC20uG D33 Dubov Tarrasch
0sA8y6 D33 Prague Variation
NUxt2A D33 Rubinstein System
UMV3Kp D33 Swedish Variation
vnWA-b D33 Swedish Variation, Central Break
TEwhJM D33 Wagner Variation
yOVs20 D34 Classical Variation
Ke_Wq_ D34 Classical Variation, Advance Variation
lVKRD_ D34 Classical Variation, Bogoljubow Variation
o7N2Jb D34 Classical Variation, Carlsbad Variation
F_5Hd5 D34 Classical Variation, Chandler Variation
f5wXNU D34 Classical Variation, Classical Tarrasch Gambit
xcVBu9 D34 Classical Variation, Endgame Variation
ziwPf6 D34 Classical Variation, Main Line
-VhoDw D34 Classical Variation, Petursson Variation
uj_nyz D34 Classical Variation, Réti Variation
ki4UsP D34 Classical Variation, Spassky Variation
JuvT1p D34 Prague Variation, Main Line
=Three Knights Opening
eERyjO C46
CiHECR C46
CkVhQs C46 Schlechter Variation
7cV705 C46 Steinitz Defense
pVI61d C46 Steinitz-Rosenthal Variation
EznG4Z C46 Winawer Defense
=Torre Attack
kY2K6f A46 Classical Defense
w9mHt3 A46 Classical Defense, Nimzowitsch Variation
uM0nU7 A46 Classical Defense, Petrosian Gambit
q08aRP A46 Wagner Gambit
crt3Lu A48 Fianchetto Defense
rCeB1O A48 Fianchetto Defense, Euwe Variation
=Trompowsky Attack
Jonau5 A45
xjEk6M A45 Borg Variation
h2Grzn A45 Classical Defense
0kdbZv A45 Classical Defense, Big Center Variation
_tm4g6 A45 Edge Variation
w-tXWv A45 Edge Variation, Hergert Gambit
9K1OVM A45 Edge Variation, Hergert Gambit
NG3TYj A45 Poisoned Pawn Variation
s-A49T A45 Raptor Variation
JbrTHv A45 Raptor Variation, Hergert Gambit
=Valencia Opening
XVZxRE A00
=Van Geet Opening
q_5Hpn A00
3CcICR A00 Battambang Variation
k9GU8M A00 Billockus-Johansen Gambit
pAaohm A00 Damhaug Gambit
Purqc3 A00 Dougherty Gambit
Hjbwvf A00 Dunst-Perrenet Gambit
CA-Z3r A00 Düsseldorf Gambit
fSBpJL A00 Gladbacher Gambit
s1d1V8 A00 Hector Gambit
hSFVtz A00 Hergert Gambit
pkGgIA A00 Hulsemann Gambit
O86nft A00 Jendrossek Gambit
LT-GQC A00 Kluever Gambit
whpPZw A00 Laroche Gambit
6L7OUu A00 Liebig Gambit
i2MHAk A00 Melleby Gambit
0llmrT A00 Myers Attack
pKLOij A00 Napoleon Attack
xGInrm A00 Novosibirsk Variation
yeU2ym A00 Nowokunski Gambit
Ayk8-F A00 Pfeiffer Gambit
hrQLjQ A00 Pfeiffer Gambit, Sleipnir Countergambit
l792PZ A00 Reversed Nimzowitsch
-NFp5E A00 Reversed Scandinavian
tXGwjG A00 Sicilian Two Knights
oT2iwy A00 Sleipnir Gambit
IBycHy A00 Twyble Attack
zmnyNi A00 Tübingen Gambit
BKihxp A00 Venezolana Variation
MpbItj A00 Warsteiner Gambit
copS1V B00 Berlin Gambit
wSO4SH B01 Grünfeld Defense
DCF2s4 C31 Grünfeld Defense, Steiner Gambit
=Van't Kruijs Opening
cOR_CP A00
7-hRBu A00 Bouncing Bishop Variation
ZKMUnW A00 Keoni-Hiva Gambit, Akahi Variation
AbuzQ2 A00 Keoni-Hiva Gambit, Alua Variation
BboMUH A00 Keoni-Hiva Gambit, Ekolu Variation
=Vienna Gambit, with Max Lange Defense
m3kuQp C25
pWblTc C25 Cunningham Defense
GPLjCt C25 Hamppe-Allgaier Gambit
bO_eII C25 Hamppe-Allgaier Gambit, Alapin Variation
RDBA98 C25 Hamppe-Allgaier Gambit, Thorold Variation
SJvPqM C25 Hamppe-Muzio Gambit
CgPdBa C25 Knight Variation
F6smIv C25 Pierce Gambit
jLjTcn C25 Quelle Gambit
geQ3IX C25 Steinitz Gambit
U1kPOv C25 Steinitz Gambit, Fraser-Minckwitz Defense
RoZOB_ C25 Steinitz Gambit, Main Line
DBAJ8j C25 Steinitz Gambit, Paulsen Defense
S76uh8 C25 Steinitz Gambit, Sörensen Defense
Z1xi4L C25 Steinitz Gambit, Zukertort Defense
=Vienna Game
VFBuS8 C25
z0w5kN C25 Anderssen Defense
GuSESQ C25 Fyfe Gambit
5bo8dJ C25 Giraffe Attack
nC5iHR C25 Hamppe-Meitner Variation
S88qIU C25 Hamppe-Muzio Gambit
hW1s_k C25 Hamppe-Muzio, Dubois Variation
26COzu C25 Max Lange Defense
z6QNu5 C25 Omaha Gambit
K9xDN2 C25 Paulsen Variation
UpQxlH C25 Paulsen Variation
bVdoCz C25 Paulsen Variation, Mariotti Gambit
rFzvMQ C25 Philidor Countergambit
WwtAGS C25 Pierce Gambit, Rushmere Attack
gxixpl C25 Stanley Variation, Meitner-Mieses Gambit
2T2g9D C25 Zhuravlev Countergambit
grLbTX C26 Falkbeer Variation
GQgrFW C26 Mengarini Variation
EkcLL6 C26 Mieses Variation
zMOZNs C26 Mieses Variation, Erben Gambit
tUwij0 C26 Paulsen Variation, Pollock Gambit
fzjgby C26 Stanley Variation
f72588 C26 Stanley Variation, Eifel Gambit
8zAMfN C26 Stanley Variation, Reversed Spanish
6Za_AX C27 Adams' Gambit
CqtOyj C27 Frankenstein-Dracula Variation
MSNGdJ C27 Stanley Variation, Alekhine Variation
VAGKC1 C27 Stanley Variation, Frankenstein-Dracula Variation
Sdl6M2 C27 Stanley Variation, Monster Declined
vF1wsV C28 Stanley Variation, Bronstein Gambit
TaBSt5 C28 Stanley Variation, Three Knights Variation
rG6hxA C29 Heyde Variation
Z5iRmK C29 Vienna Gambit
okPmyn C29 Vienna Gambit, Bardeleben Variation
AD1XCQ C29 Vienna Gambit, Breyer Variation
LmlviM C29 Vienna Gambit, Kaufmann Variation
qcfFX8 C29 Vienna Gambit, Main Line
EoRbFi C29 Vienna Gambit, Modern Variation
p_LLby C29 Vienna Gambit, Paulsen Attack
w1-iH1 C29 Vienna Gambit, Steinitz Variation
2MdKDh C29 Vienna Gambit, Wurzburger Trap
=Vulture Defense
X32Uaj A56
=Wade Defense
0843Tk A41
=Ware Defense
MKwBoQ B00
HOZpc1 B00 Snagglepuss Defense
=Ware Opening
YhM8VQ A00
XjYyNB A00 Cologne Gambit
XC4R1_ A00 Crab Variation
E1KykC A00 Meadow Hay Trap
40fApb A00 Symmetric Variation
NcAc-a A00 Ware Gambit
pmr__d A00 Wing Gambit
=Yusupov-Rubinstein System
3ZWXOQ A46
=Zaire Defense
iJ_wdm A40
=Zukertort Defense
LvQtag A04 Kingside Variation
QTqwL1 A04 Sicilian Knight Variation
=Zukertort Opening
fJDiCM A04
7qI7rP A04 Arctic Defense
k_rUrR A04 Arctic Defense, Drunken Knight Variation
FTrsdn A04 Basman Defense
yNEll1 A04 Black Mustang Defense
XsBt02 A04 Drunken Cavalry Variation
yKT2WI A04 Dutch Variation
LKmlvI A04 Herrstrom Gambit
5PD942 A04 Kingside Fianchetto
2fkUyz A04 Lisitsyn Gambit
wpJ6Cx A04 Lisitsyn Gambit Deferred
DR_lv1 A04 Pirc Invitation
cn6hOZ A04 Polish Defense
L95gZo A04 Queen's Gambit Invitation
TeWBkZ A04 Queenside Fianchetto Variation
Vc1BEF A04 Ross Gambit
S38PAp A04 Shabalov Gambit
ulKuXU A04 Sicilian Invitation
dHyRhj A04 Slav Invitation
tZdjWJ A04 Speelsmet Gambit
GNq2q9 A04 St. George Defense
_-Hjm- A04 The Walrus
Z-iBCq A04 Vos Gambit
Ll-tbh A04 Wade Defense
EYJh2X A04 Ware Defense
3D0Fwo A05
mBAERM A05
WeYmZx A05 Double Fianchetto Attack
_zuYAd A05 Lemberger Gambit
RHWIU4 A05 Myers Polish Attack
FFpEMa A05 Nimzo-Larsen Variation
NN9iJ6 A05 Quiet System
vpKnJ4 A06
zofVaP A06 Ampel Variation
eKFKjh A06 Old Indian Attack
L_ZP4H A06 Pachman Gambit
g0hxle A06 Regina-Nu Gambit
6FyngQ A06 Reversed Mexican Defense
gcTgZ- A06 Santasiere's Folly
Y5A0eO A06 Tennison Gambit
iee8CH A06 Tennison Gambit, Brigg's Trap
eWpYJn A06 The Potato
6wLnHI A08 Reversed Grünfeld
zylz-R A08 Reversed Grünfeld
Yor8t7 A08 Reversed Grünfeld
iBE7B7 A08 Reversed Grünfeld
rXwLL_ A41 Wade Defense, Chigorin Plan
`;var dl=50,ul="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";function ml(i){let e=xe(i),[t,a]=[2166136261,739982445];for(let n=0;n<e.length;n+=1){let r=e.charCodeAt(n);t=Math.imul(t^r,16777619),a=Math.imul(a^r,1540483477)}return xr(t)+xr(a)}function xr(i){let e=i;return e=Math.imul(e^e>>>16,2246822507),e=Math.imul(e^e>>>13,3266489909),[26,20,14].map(t=>ul[e>>>t&63]).join("")}function pl(i){let e=new Map,t="";for(let a of i.split(`
`))if(a.startsWith("="))t=a.slice(1);else if(a&&!a.startsWith("#")){let n=a.slice(11);e.set(a.slice(0,6),{eco:a.slice(7,10),name:n?`${t}: ${n}`:t})}return e}var Tr=null,Pr=new WeakMap;function Mi(i){Tr??=pl(Mr);let e=null;for(let t of i.path().slice(0,dl)){let a=Pr.get(t)??Tr.get(ml(t.position));a&&Pr.set(t,a),e=a??e}return e}function Lr(i){let e=Mi(i);return e?`${e.eco} ${e.name}`:""}var xi=class{constructor(){this.children=[]}*mainlineNodes(){let e=this;for(;e.children.length;){let t=e.children[0];yield t,e=t}}*mainline(){for(let e of this.mainlineNodes())yield e.data}end(){let e=this;for(;e.children.length;)e=e.children[0];return e}},pt=class extends xi{constructor(e){super(),this.data=e}};var fl=i=>i?i.winner==="white"?"1-0":i.winner==="black"?"0-1":"1/2-1/2":"*",gl=i=>i==="1-0"||i==="1–0"||i==="1—0"?{winner:"white"}:i==="0-1"||i==="0–1"||i==="0—1"?{winner:"black"}:i==="1/2-1/2"||i==="1/2–1/2"||i==="1/2—1/2"?{winner:void 0}:void 0,bl=i=>i.replace(/\\/g,"\\\\").replace(/"/g,'\\"'),Ma=i=>i.replace(/\}/g,""),Rr=i=>{let e=[],t=[];if(i.headers.size){for(let[h,u]of i.headers.entries())e.push("[",h,' "',bl(u),`"]
`);e.push(`
`)}for(let h of i.comments||[])t.push("{",Ma(h),"}");let a=i.headers.get("FEN"),n=a?ai(a).unwrap(h=>(h.fullmoves-1)*2+(h.turn==="white"?0:1),h=>0):0,r=[],o=i.moves.children[Symbol.iterator](),s=o.next();s.done||r.push({state:0,ply:n,node:s.value,sidelines:o,startsVariation:!1,inVariation:!1});let c=!0;for(;r.length;){let h=r[r.length-1];switch(h.inVariation&&(t.push(")"),h.inVariation=!1,c=!0),h.state){case 0:for(let u of h.node.data.startingComments||[])t.push("{",Ma(u),"}"),c=!0;(c||h.ply%2===0)&&(t.push(Math.floor(h.ply/2)+1+(h.ply%2?"...":".")),c=!1),t.push(h.node.data.san);for(let u of h.node.data.nags||[])t.push("$"+u),c=!0;for(let u of h.node.data.comments||[])t.push("{",Ma(u),"}");h.state=1;case 1:{let u=h.sidelines.next();if(u.done){let m=h.node.children[Symbol.iterator](),f=m.next();f.done||r.push({state:0,ply:h.ply+1,node:f.value,sidelines:m,startsVariation:!1,inVariation:!1}),h.state=2}else t.push("("),c=!0,r.push({state:0,ply:h.ply,node:u.value,sidelines:[][Symbol.iterator](),startsVariation:!0,inVariation:!1}),h.inVariation=!0;break}case 2:r.pop()}}return t.push(fl(gl(i.headers.get("Result")))),e.push(t.join(" "),`
`),e.join("")};var Kr=5e6,Vl=Object.values(Ye).map(({you:i})=>i);function Pi({tags:i,result:e}){let t=new Map(e?[...i,["Result",e]]:i);for(let a of["White","Black"])Vl.includes(t.get(a)??"")&&t.set(a,l.you);return t}function Oe(i){let e=de(i.fen);e.comments.push(...i.comments);let t=[e],a=0;for(let{parent:n,uci:r,comments:o,glyphs:s}of i.nodes){let c=t[n]?.playUci(r)??null;c?.comments.push(...o??[]),c?.nags.push(...s??[]),n===a&&(a=t.length),t.push(c)}return t[a]?.promote(),{root:e,tags:Pi(i)}}function Nr({nodes:i}){let e=[],t=0;return i.forEach(({parent:a,uci:n},r)=>{a===t&&(t=r+1,e.push(n))}),e}function ft(i,e){let t=[],a=[...e.children].reverse().map(n=>[n,0]);for(let n=a.pop();n;n=a.pop()){let[{uci:r,comments:o,nags:s,children:c},h]=n;t.push({parent:h,uci:r,comments:o,glyphs:s});let u=t.length;a.push(...[...c].reverse().map(m=>[m,u]))}return{tags:[...i],fen:e.fen,result:null,comments:e.comments,nodes:t}}function Ti(i,e){let t=i.get(e)?.trim()??"";return t===""||t.startsWith("?")?null:t}function fi(i){let e=(r,o)=>{let s=Ti(i,`${r}Elo`);return`${Ti(i,r)??o}${s?` (${s})`:""}`},t=i.get("Result"),a=`${e("White",l.side.white)} – ${e("Black",l.side.black)}`,n=t&&t!=="*"?`, ${t}`:"";return`${a}${n}`}function Or(i){return["Event","Site","Date","Round","TimeControl","Termination","Annotator"].flatMap(t=>Ti(i,t)??[]).join(" · ")}function Ue(i,e,t){let a=new xi,n=[[e,a]];for(let s=n.pop();s;s=n.pop()){let[c,h]=s;for(let u of c.children){let m=t?.(u),f={san:u.san},g=[...m?.comments??[],...u.comments],b=[...new Set([...u.nags,...m?.nags??[]])];g.length&&(f.comments=g),b.length&&(f.nags=b);let B=new pt(f);h.children.push(B),n.push([u,B])}}let r=new Map(["Event","Site","Date","Round","White","Black","Result"].map(s=>{let c=s==="Date"?"????.??.??":s==="Result"?"*":"?";return[s,i.get(s)??c]})),o=Mi(e.last());o&&r.set("ECO",o.eco).set("Opening",o.name);for(let[s,c]of i)r.set(s,c);return e.fen!==ge&&(r.set("SetUp","1"),r.set("FEN",e.fen)),Rr({headers:r,comments:e.comments,moves:a})}function Li(i,e){for(let t of i)for(let[,a,n]of t.matchAll(/\[%(\S+)\s+([^\]]*)\]/g))if(a===e&&n)return n.trim();return null}function zr(i){return i.replace(/\[%[^\]]*\]/g,"").trim()}function Fr(i){let e={1:"!",2:"?",3:"!!",4:"??",5:"!?",6:"?!"};return i.map(t=>e[t]??"").join("")}var Cl={inaccuracy:"?!",mistake:"?",blunder:"??"},gt=class{constructor(e){this.app=e}app;list=k("moves");buttons=new Map;opening=k("opening");drawn="";draw(){let e=this.app,t=kl(e.root);if(t!==this.drawn){this.drawn=t,this.buttons.clear();let r=this.comments(e.root),o=this.line(e.root,!0);this.list.replaceChildren(...r,...o.length?o:[d("p",{class:"note"},l.noMoves)])}let a=Lr(e.current);this.opening.textContent!==a&&(this.opening.textContent=this.opening.title=a),this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");let n=this.buttons.get(e.current);n?.setAttribute("aria-current","true"),n?this.list.scrollTop=n.offsetTop-this.list.offsetTop-this.list.clientHeight/2:this.list.scrollTop=0}line(e,t,a=null){let n=[],r=a;for(let[o,...s]=e.children;o;[o,...s]=o.children){let c=o.parent?.turn==="white";(c||!r)&&(r=this.pair(t?o.number.replace("…","."):o.number),t&&!c&&r.append(d("span",{class:"number"},"…")),n.push(r)),r.append(this.move(o));let h=[...this.comments(o),...s.map(u=>this.variation(u))];n.push(...h),h.length&&(r=null)}return n}variation(e){let t=this.pair(e.number);t.append(this.move(e));let a=this.comments(e);return d("div",{class:"variation",role:"group","aria-label":`${l.variation} ${e.number} ${e.san}`},t,...a,...this.line(e,!1,a.length?null:t))}pair(e){return d("span",{class:"pair"},d("span",{class:"number"},e)," ")}move(e){let t=e.judged?.judgement,a=d("button",{type:"button",class:"move"},e.san),n=Fr(e.nags)||(t?Cl[t]:"");return n&&a.append(d("span",{class:`glyph ${t??""}`},n)),a.addEventListener("click",()=>this.app.go(e)),this.buttons.set(e,a),a}comments(e){return e.comments.map(zr).filter(t=>t!=="").map(t=>d("span",{class:"comment"},t))}};function kl(i){let e=[],t=[i];for(let a=t.pop();a;a=t.pop())e.push(a.san,String(a.ply),a.judged?.judgement??"",a.nags.join(),a.comments.join()),t.push(...a.children);return`${i.fen} ${e.join(" ")}`}var Al=16;function bt(i){return i?`${l.depth(i.depth,i.seldepth)} · ${l.nodes(Sa(i.nodes),Sa(i.nps))}`:""}function Vt(i,e,t,a){return Array.from({length:a},(n,r)=>{let o=d("div",{class:"pv"}),s=t?.lines[r];if(!s)return o;let c=d("span",{class:"line"},...xa(i,e,s.pv.slice(0,Al)));return o.append(d("span",{class:"score"},_e(s.score,e.turn)),c),o})}function xa(i,e,t){let a=ae(e.position,t);return a.map((n,r)=>{let o=l.playLine(a.slice(0,r+1).join(" "));return v(Hr(e,n,r),()=>vl(i,e,t.slice(0,r+1)),{"aria-label":o})})}function Wr(i,e){return ae(i.position,e).map((t,a)=>Hr(i,t,a)).join(" ")}function Hr(i,e,t){let a=t+(i.turn==="white"?0:1),n=i.position.fullmoves+Math.floor(a/2);return a%2===0?`${n}. ${e}`:t===0?`${n}… ${e}`:e}function vl(i,e,t){let a=e;for(let n of t)a=a.playUci(n)??a;i.go(a)}function Dl(i,e){let t=[];for(let a=e;a<i;a*=2)t.push(a);return[...t,i]}function wl(i,e){return i.filter(t=>t<=e).at(-1)??i[0]}var Ri=class{constructor(e,t,a,n){this.least=a;this.chosen=W(e),this.select=d("select",{id:e}),this.select.addEventListener("change",()=>{this.chosen=Number(this.select.value),j(e,this.chosen),n()}),this.element=M(t,this.select),this.element.hidden=!0}least;element;chosen;select;offer([e,t]){let a=Dl(t,this.least);this.select.replaceChildren(...a.map(n=>d("option",{value:n},String(n)))),this.select.value=String(wl(a,this.chosen??e)),this.element.hidden=a.length<2}};var Ct=[{color:"white",side:"h"},{color:"white",side:"a"},{color:"black",side:"h"},{color:"black",side:"a"}];function Ta(i){return ai(i.trim()).unwrap(({board:e,turn:t,castlingRights:a,epSquare:n,halfmoves:r,fullmoves:o})=>{e.promoted=p.empty();let s=Ct.filter(c=>{let h=La(e,c);return h!==void 0&&a.has(h)});return{board:e,turn:t,rights:s,epSquare:n,halfmoves:r,fullmoves:o}},({message:e})=>l.fenFaults[e]??l.noFen)}function Pa(i){return ye(Jr(i))}function jr(i){return li.fromSetup(Jr(i)).unwrap(()=>null,({message:e})=>l.setupFaults[e]??l.illegal)}function Ir({board:i},e){return La(i,e)!==void 0}function Ki(i,e,t){let a=i.board.clone();return t?a.set(e,t):a.take(e),{...i,board:a,epSquare:void 0}}function qr(i,e,t){let a=i.board.get(e),n=a?.role===t?.role&&a?.color===t?.color;return Ki(i,e,n?null:t)}function _r(i,e){return Ai(e).unwrap(t=>({...i,board:t,epSquare:void 0}),()=>i)}function Zr(i,e){return{...i,turn:e,epSquare:void 0}}function Ur(i,e,t){return{...i,rights:Ct.filter(a=>a===e?t:i.rights.includes(a))}}function Jr({rights:i,...e}){let a=i.flatMap(n=>La(e.board,n)??[]).reduce((n,r)=>n.with(r),p.empty());return{...e,castlingRights:a,pockets:void 0,remainingChecks:void 0}}function La(i,{color:e,side:t}){let a=p.backrank(e),n=i.kingOf(e),r=i.pieces(e,"rook").intersect(a),o=t==="a"?r.first():r.last();if(!(n===void 0||o===void 0||!a.has(n)))return t==="a"==o<n?o:void 0}var yl={ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,1],ArrowDown:[0,-1]},At=class{constructor(e,t,a){this.app=e;this.grab=t;this.close=a;let n=o=>[...R].reverse().map(s=>({color:o,role:s})),r=["hand",...n("white"),"eraser",...n("black")];this.tools=r.map(o=>[o,this.toolButton(o)]),this.turn.addEventListener("change",()=>this.set(Zr(this.draft,this.turn.value))),this.fen.addEventListener("input",()=>this.read()),this.analyse=v(l.analysePosition,()=>this.close(Pa(this.draft)),{class:"primary",id:"editor-analyse"}),this.element.append(d("div",{id:"palette",role:"group","aria-label":l.palette},...this.tools.map(([,o])=>o)),d("div",{class:"row"},v(l.clearBoard,()=>this.set(kt(on)),{id:"editor-clear"}),v(l.anew,()=>this.set(kt(ge)),{id:"editor-start"}),M(l.sideToMove,this.turn)),d("fieldset",{class:"row"},d("legend",{},l.castling),...this.rights.map(({right:{color:o,side:s},box:c})=>M(l.right(l.side[o],s),c))),d("div",{class:"field"},M(l.fen,this.fen)),this.fault,d("div",{class:"row"},this.analyse,v(l.cancel,()=>this.close(null),{id:"editor-cancel"})),d("p",{class:"note"},l.editorKeys))}app;grab;close;element=d("div",{id:"editor",hidden:!0});cursor=0;draft=kt(ge);tool="hand";tools;turn=d("select",{id:"editor-turn"},...J.map(e=>d("option",{value:e},l.side[e])));rights=Ct.map(e=>{let t=d("input",{type:"checkbox"});return t.addEventListener("change",()=>this.set(Ur(this.draft,e,t.checked))),{right:e,box:t}});fen=d("input",{id:"editor-fen",type:"text",autocomplete:"off",spellcheck:"false","aria-describedby":"editor-fault"});fault=d("p",{id:"editor-fault",class:"note fault",role:"status"});analyse;get isOpen(){return!this.element.hidden}open(e){this.element.hidden=!1,this.cursor=0,this.choose("hand"),this.set(kt(e)),this.tools[0]?.[1].focus()}hide(){this.element.hidden=!0}get pieces(){return jt(this.draft.board)}moved(e){this.set(_r(this.draft,e)),this.tell()}press(e){return this.cursor=e,this.tool==="hand"?!1:(this.set(this.tool==="eraser"?Ki(this.draft,e,null):qr(this.draft,e,this.tool)),this.tell(),!0)}onKey(e,t){let a=yl[e];if(a){let n=t==="white"?1:-1,r=ei(P(this.cursor)+n*a[0],Y(this.cursor)+n*a[1]);this.cursor=r??this.cursor,this.app.redraw()}else if(e==="Delete"||e==="Backspace")this.set(Ki(this.draft,this.cursor,null));else{let n=e.length===1?ce(e.toLowerCase()):void 0;if(!n)return!1;let r=e===e.toUpperCase()?"white":"black";this.set(Ki(this.draft,this.cursor,{role:n,color:r}))}return this.tell(),!0}tell(){let e=this.draft.board.get(this.cursor),t=e?l.piece(l.side[e.color],l.pieces[e.role]):l.emptySquare;this.app.announce(`${T(this.cursor)}: ${t}`)}set(e){this.draft=e,this.fen.value=Pa(e),this.draw()}read(){let e=Ta(this.fen.value);typeof e!="string"&&(this.draft=e),this.draw(typeof e=="string"?e:null)}draw(e=null){let{draft:t}=this;this.turn.value=t.turn;for(let{right:n,box:r}of this.rights)r.disabled=!Ir(t,n),r.checked=!r.disabled&&t.rights.includes(n);let a=e??jr(t);this.fault.textContent=a??" ",this.fen.setAttribute("aria-invalid",String(a!==null)),this.analyse.disabled=a!==null,this.app.redraw()}choose(e){this.tool=e;for(let[t,a]of this.tools)a.setAttribute("aria-pressed",String(t===e))}toolButton(e){let t=typeof e!="string",a=t?l.piece(l.side[e.color],l.pieces[e.role]):l.tools[e],n=v(t?"":l.toolSigns[e],()=>this.choose(e),{"aria-label":a,title:a});if(!t)return n;n.className="cg-wrap";let r=document.createElement("piece");r.className=`${e.color} ${e.role}`,n.append(r);let o=s=>{if("button"in s){if(s.button!==0)return;s.preventDefault()}this.choose("hand"),this.grab(e,s,c=>this.choose(c?"hand":e))};return n.addEventListener("mousedown",o),n.addEventListener("touchstart",o,{passive:!0}),n}};function kt(i){let e=Ta(i);if(typeof e=="string")throw new Error(e);return e}function Ni(i,e,t,a,n=null){let r=d("tr",{},...t.map(s=>d("th",{scope:"col"},s))),o=a.map(({uci:s,san:c,cells:h})=>{let u=v(c,()=>i.go(e.playUci(s)??e),{"aria-label":l.playLine(c)});return d("tr",{},d("td",{},u),...h.map(m=>d("td",{},m)))});return n&&o.push(d("tr",{},...n.map(s=>d("td",{},s)))),d("div",{class:"choices"},d("table",{},d("thead",{},r),d("tbody",{},...o)))}var Ra=4096,Sl={"1-0":"wins","1/2-1/2":"draws","0-1":"losses"},Oi=class{games;lines=[];places=new Map;constructor(e){this.games=e.filter(t=>"fen"in t&&t.nodes.length>0)}get count(){return this.games.length}get read(){return this.lines.length}readNext(){let e=this.games[this.read];if(!e)return;let t=[],a=this.read*Ra;this.lines.push(t);let n=Bl(e);if(n)for(let r of Nr(e)){let o=fe(r),s=o&&he(n,o);if(!s||!n.isLegal(s))return;this.add(xe(n),a+t.length),t.push(we(s)),n.play(s)}}moves(e){let t=new Map;for(let n of[this.places.get(xe(e))??[]].flat()){let r=Math.floor(n/Ra),o=this.lines[r]?.[n%Ra];if(!o)continue;let s=t.get(o)??{uci:o,games:0,wins:0,draws:0,losses:0,last:-1};if(t.set(o,s),s.last===r)continue;s.last=r,s.games+=1;let c=Sl[this.games[r]?.result??""];c&&(s[c]+=1)}return[...t.values()].map(({last:n,...r})=>r).sort((n,r)=>r.games-n.games)}add(e,t){let a=this.places.get(e);a===void 0?this.places.set(e,t):typeof a=="number"?this.places.set(e,[a,t]):a.push(t)}};function Bl(i){try{return de(i.fen).position}catch{return null}}var Gl=20,El=17,Ml=.14,vt=class{constructor(e){this.app=e}app;element=d("section",{id:"explorer",hidden:!0,"aria-labelledby":"explorer-title"});explorer=new Oi([]);drawn=null;book=new WeakMap;open(e){this.explorer=new Oi(e),this.drawn=null,this.read(this.explorer)}lacks(e){return e.ply<El&&!this.book.has(e)}learn(e,t){this.book.set(e,t),this.drawn=null}draw(){let{explorer:e}=this,t=this.app.current,{count:a,read:n}=e;if(this.drawn?.node===t&&this.drawn.read===n)return;if(this.drawn={node:t,read:n},a<2){this.drawBook(t);return}this.element.hidden=!1;let r=e.moves(t.position),o=r.map(u=>({uci:u.uci,san:ae(t.position,[u.uci])[0]??"",cells:[String(u.games),Qr(u)]})),s=u=>r.reduce((m,f)=>m+f[u],0),c={uci:"",games:s("games"),wins:s("wins"),draws:s("draws"),losses:s("losses")},h=r.length>1?["Σ",String(c.games),Qr(c)]:null;this.element.replaceChildren(d("h2",{id:"explorer-title"},l.explorer(n,a)),r.length?Ni(this.app,t,l.explorerColumns,o,h):d("div",{class:"choices"},d("p",{class:"note"},l.explorerNone)))}drawBook(e){let t=this.book.get(e)??[];this.element.hidden=!t.length;let a=t.map(([n,r])=>({uci:n,san:ae(e.position,[n])[0]??"",cells:[oe(r)]}));this.element.replaceChildren(d("h2",{id:"explorer-title"},l.book),Ni(this.app,e,l.bookColumns,a))}read(e){if(e!==this.explorer)return;let t=performance.now()+Gl;for(;e.read<e.count&&performance.now()<t;)e.readNext();this.draw(),e.read<e.count&&setTimeout(()=>this.read(e))}};function Qr({wins:i,draws:e,losses:t}){let a=l.explorerResults(i,e,t),n=d("div",{class:"results",role:"img","aria-label":a,title:a}),r=i+e+t;for(let[o,s]of[["white",i],["draws",e],["black",t]]){let c=s/(r||1),h=d("span",{class:o},c>=Ml?l.percent(String(Math.round(100*c))):"");h.style.flexGrow=String(s),s&&n.append(h)}return n}function se(i){switch(i.type){case"queued":return l.queued(i.place);case"begun":return"";case"error":return l.failed(i.message);case"ended":return l.ended[i.reason];default:return null}}var gi=class{constructor(e){this.app=e}app;node=null;message=d("p",{class:"note",role:"status"});leave(){this.app.engine.stop(),this.node=null}update(){let e=this.app.current;this.node!==e&&(this.node=e,this.show(e))}ask(e,t,a){this.app.engine.run(Z(e),t,n=>{let r=se(n);r!==null&&(this.message.textContent=r),a(n)})}};var xl=3,Dt=class{constructor(e){this.app=e;this.isOn.addEventListener("change",()=>{j("second",this.isOn.checked),this.begin()})}app;element=d("section",{id:"second",hidden:!0});engine=null;node=null;lines=0;known=new WeakMap;isOn=d("input",{type:"checkbox",id:"second-on",checked:W("second")??!0});figures=d("p",{class:"figures note",id:"second-figures"});linesBox=d("div");message=d("p",{class:"note",role:"status"});offer(e){if(this.engine||!e||!Ci.another)return;let t=()=>{};this.engine=new pi(Ci.another(),t,t,n=>{this.message.textContent=l.failed(n)});let a=d("div",{class:"field"},M(e,this.isOn),this.figures);this.element.append(a,this.linesBox,this.message),this.element.hidden=!1,this.engine.connect(),this.begin()}analyse(e,t){let a=Math.min(t,xl);e===this.node&&a===this.lines||(this.node=e,this.lines=a,this.begin())}begin(){let{engine:e,node:t}=this;e&&(this.message.textContent="",t&&this.isOn.checked?e.run(Z(t),{name:"second_engine",lines:this.lines},a=>this.hear(t,a)):e.stop(),this.draw())}hear(e,t){t.type==="info"&&this.known.set(e,t),this.message.textContent=se(t)??this.message.textContent,(t.type!=="info"||!this.linesBox.matches(":active"))&&this.draw()}draw(){let e=this.app.current,t=this.isOn.checked,a=t&&this.known.get(e)||null;this.figures.textContent=bt(a),ui(this.linesBox,Vt(this.app,e,a,t?this.lines:0))}};var Tl=["win","cursed","draw","blessed","loss"],Pl=7;function Xr({board:i,castles:e}){return i.occupied.size()<=Pl&&e.castlingRights.isEmpty()}function $r(i,e){return e.flatMap(a=>Ll(i,a)??[]).sort((a,n)=>Kl(a.order,n.order)).map(({order:a,...n})=>n)}function Ll(i,{uci:e,dtz:t}){let a=fe(e);if(!a||!("from"in a))return null;let n=he(i,a);if(!("from"in n)||!i.isLegal(n))return null;let r=i.board.pawn.has(n.from),o=i.board.get(n.to),s=r&&(n.from-n.to)%8!==0||!!o&&o.color!==i.turn,c=s?o?.role??"pawn":null,h=i.clone();h.play(n);let u=h.isCheckmate()?"checkmate":h.isStalemate()?"stalemate":h.isInsufficientMaterial()?"insufficient":s?"capture":r?"pawn":"quiet",m=i.halfmoves<100&&Math.abs(t)+h.halfmoves<=100,f=Rl(u==="checkmate"?1:t,u==="checkmate"?i.halfmoves<100:m),g=t<0,b=[Tl.indexOf(f),+(u!=="checkmate"),+(u!=="stalemate"),+(u!=="insufficient"),+((s||r)===g),+(s===g),t,-Yr(c),-Yr(n.promotion??null)];return{uci:e,san:Di(i,n),outcome:f,kind:u,dtz:Math.abs(t),order:b}}function Rl(i,e){return i===0?"draw":i>0?e?"win":"cursed":e?"loss":"blessed"}function Yr(i){return i?R.indexOf(i):-1}function Kl(i,e){let t=i.findIndex((a,n)=>a!==e[n]);return t<0?0:(i[t]??0)-(e[t]??0)}var wt=class{constructor(e){this.app=e}app;element=d("section",{id:"tables",hidden:!0,"aria-labelledby":"tables-title"});known=new WeakMap;drawn;lacks(e){return!this.known.has(e)&&Xr(e.position)}learn(e,t){this.known.set(e,$r(e.position,t))}draw(){let e=this.app.current,t=this.known.get(e);if(t===this.drawn||(this.drawn=t,this.element.hidden=!t?.length,!t))return;let a=t.map(r=>({uci:r.uci,san:r.san,cells:[d("span",{class:`outcome ${r.outcome}`},l.outcomes[r.outcome]),r.kind==="quiet"?r.dtz?l.dtz(r.dtz):"":l.kinds[r.kind]]})),n=d("h2",{id:"tables-title",title:l.tablesHint},l.tables);this.element.replaceChildren(n,Ni(this.app,e,l.tablesColumns,a))}};var eo=.24,Nl=16,io=14,Ol=3,yt=class{constructor(e,t){this.app=e;this.second=new Dt(e),this.tables=new wt(e),this.explorer=new vt(e),this.editor=new At(e,t,r=>this.closeEditor(r)),this.toggle=v("",()=>this.switch());let a=d("input",{type:"number",min:"1",max:"10",value:String(this.lines),"aria-label":l.lines});a.addEventListener("change",()=>{this.lines=Math.max(1,Math.min(10,Math.round(Number(a.value))||1)),a.value=String(this.lines),j("lines",this.lines),this.begin()});let n=d("input",{type:"file",accept:".pgn,.fen,.epd,.txt,.gz,.bz2,.zst","aria-label":l.openFile});n.addEventListener("change",()=>{this.readFile(n)}),this.games.hidden=!0,this.loading=d("details",{id:"load"},d("summary",{},l.load),this.input,d("div",{class:"row"},v(l.loadButton,()=>this.loadText(this.input.value),{id:"load-button"}),n),M("",this.games),d("div",{class:"row"},v(l.promoteLine,()=>{this.app.current.promote(),this.app.update()}),v(l.deleteFrom,()=>this.deleteFrom()),v(l.anew,()=>this.begun(ci()),{id:"anew"}))),this.analysis=d("div",{},d("div",{class:"row"},this.toggle,M(l.lines,a),this.figures),this.chances,this.linesBox,this.message,this.second.element,this.tables.element,this.explorer.element,this.loading,d("div",{class:"row"},this.setUp,v(l.copyFen,()=>{this.copy(this.app.current.fen)},{id:"copy-fen"}),v(l.copyPgn,()=>{this.copy(Ue(this.app.tags,this.app.root))}),v(l.savePgn,()=>qe("game.pgn","application/x-chess-pgn",Ue(this.app.tags,this.app.root)))),d("div",{class:"row"},this.threads.element,this.hash.element)),this.element=d("div",{},this.analysis,this.editor.element),this.linesBox.id="lines",this.figures.id="figures",document.addEventListener("paste",r=>this.paste(r)),this.input.addEventListener("paste",()=>setTimeout(()=>this.loadText(this.input.value)))}app;element;on=!0;lines=W("lines")??3;threads=new Ri("threads",l.threads,1,()=>this.begin());hash=new Ri("hash",l.hash,Nl,()=>this.begin());node=null;threat=null;stopped="";notice="";loads=0;toggle;linesBox=d("div");figures=d("p",{class:"figures note"});chances=d("p",{class:"figures note"});message=d("p",{class:"note",role:"status"});input=d("textarea",{rows:"3",placeholder:l.loadHint,"aria-label":l.loadHint,spellcheck:"false"});loading;games=d("select",{"aria-label":l.game});second;tables;explorer;editor;setUp=v(l.setUp,()=>this.openEditor(),{id:"set-up"});analysis;offer({threads:e,hash:t,second:a}){this.threads.offer(e),this.hash.offer(t),this.second.offer(a)}editing(){return this.editor.isOpen?this.editor:null}open(){this.stopped="",this.node=null}leave(){this.app.engine.stop(),this.second.analyse(null,this.lines),this.node=null}update(){this.node!==this.app.current&&(this.notice="",this.threat=null,this.begin()),this.draw()}pause(e){e?this.leave():this.update()}onKey(e){if(this.editor.isOpen)return!1;if(e==="l")this.switch();else if(e==="x")this.showThreat();else if(e===" ")this.playBest();else return!1;return!0}switch(){this.on=!this.on,this.stopped="",this.begin(),this.draw()}begin(){if(document.hidden){this.leave();return}let e=this.app.current;this.node=e,this.stopped="";let t=this.editor.isOpen||e.position.isEnd();this.second.analyse(t?null:e,this.lines),t?this.app.engine.stop():this.tables.lacks(e)?this.lookUp(e,"tablebase"):this.explorer.lacks(e)?this.lookUp(e,"book"):this.search(e)}lookUp(e,t){this.app.engine.run(Z(e),{name:t},a=>{this.stopped=se(a)??this.stopped,a.type==="tablebase"?this.tables.learn(e,a.moves):a.type==="book"?this.explorer.learn(e,a.moves):a.type==="ended"&&this.search(e),this.draw()})}search(e){if(!this.on){this.app.engine.stop();return}this.app.engine.run(Z(e),this.task(this.lines,null),t=>this.hear(e,t))}task(e,t){return{name:"analyse",lines:e,milliseconds:t,threads:this.threads.chosen,hash:this.hash.chosen}}hear(e,t){this.stopped=se(t)??this.stopped,t.type==="info"&&this.app.learn(e,t),t.type==="ended"&&(t.reason==="turn"||t.reason==="limit")&&(this.on=!1),(t.type!=="info"||!this.linesBox.matches(":active"))&&this.draw(),this.app.redraw()}playBest(){let e=this.app.current.info?.lines[0]?.pv[0],t=e?this.app.current.playUci(e):null;t&&this.app.go(t)}showThreat(){let e=this.app.current;if(this.threat){this.threat=null,this.begin(),this.app.redraw();return}if(e.position.isCheck()||e.position.isEnd()){this.stopped=l.noThreat,this.draw();return}let t=e.position.toSetup(),a=ye({...t,turn:y(e.turn),epSquare:void 0});this.threat={of:e,uci:null},this.stopped=l.threat,this.app.engine.run({fen:a,moves:[]},this.task(1,1500),n=>{this.threat&&(n.type==="info"&&(this.threat.uci=n.lines[0]?.pv[0]??null),n.type==="error"&&(this.stopped=l.failed(n.message)),this.draw(),this.app.redraw())}),this.draw()}arrows(){let e=this.app.current;if(this.threat?.of===e){let[t,a]=this.threat.uci?[this.threat.uci.slice(0,2),this.threat.uci.slice(2,4)]:[];return t&&a?[{orig:t,dest:a,brush:"red"}]:[]}return e.info?Fl(e,e.info):[]}draw(){let e=this.app.current,t=e.info;this.toggle.textContent=this.on?l.engineOff:l.engineOn,this.toggle.setAttribute("aria-pressed",String(this.on)),this.figures.textContent=bt(t);let a=t?.lines[0]?.wdl;this.chances.textContent=a?mi(Ze(a,e.turn)):" ",ui(this.linesBox,Vt(this.app,e,t,this.lines));let n=e.position.isEnd()?l.gameOver:this.stopped;this.message.textContent=[this.notice,n].filter(Boolean).join(" "),this.tables.draw(),this.explorer.draw()}deleteFrom(){let e=this.app.current;e.parent&&(e.remove(),this.app.go(e.parent))}async copy(e){try{await navigator.clipboard.writeText(e),this.say(l.copied)}catch{this.loading.open=!0,this.input.value=e,this.input.select()}}paste({target:e,clipboardData:t}){let a=t?.getData("text/plain")??"";!a.trim()||e instanceof Element&&e.closest("input, textarea, dialog")||(this.app.openTab("analyse"),this.loadText(a))}loadText(e){this.load(new Blob([e]),"pasted.pgn")}async readFile(e){let[t]=e.files??[];t&&(await this.load(t,t.name),e.value="")}say(e){this.notice=e,this.draw()}begun(e){this.newLoad(),this.open(),this.hideEditor(),this.app.load(e,new Map),this.games.hidden=!0,this.loading.open=!1}openEditor(){this.analysis.hidden=!0,this.editor.open(this.app.current.fen),this.begin()}hideEditor(){let e=this.editor.element.querySelector(":focus-visible");this.editor.hide(),this.analysis.hidden=!1,e&&this.setUp.focus()}closeEditor(e){if(e!==null){this.begun(de(e));return}this.open(),this.hideEditor(),this.app.update()}newLoad(){return this.loading.removeAttribute("aria-busy"),this.loads+=1,this.loads}async load(e,t){let a=this.newLoad();if(e.size>Kr){this.say(l.fileTooLarge);return}this.loading.setAttribute("aria-busy","true");let n=await Xa(e,t).catch(to);if(a!==this.loads)return;if(this.loading.removeAttribute("aria-busy"),typeof n=="string"){this.say(l.unread(n));return}let{games:r,more:o}=n;this.games.replaceChildren(...r.map((s,c)=>d("option",{value:c},zl(s,c)))),this.games.hidden=r.length<2,this.games.onchange=()=>this.show(r[Number(this.games.value)]),this.explorer.open(r),this.app.openTab("analyse"),this.show(r[0]),o&&this.say(`${this.notice} ${l.onlyFirst(r.length)}`)}show(e){if(!e){this.say(l.noGame);return}let{fault:t}=e;if(!("fen"in e)||t&&!e.nodes.length&&!e.tags.length){this.say(l.unread(t??""));return}let a;try{a=Oe(e)}catch(n){this.say(l.unread(to(n)));return}this.open(),this.hideEditor(),this.loading.open=!this.games.hidden,this.loading.open||(k("panels").scrollTop=k("panel-side").scrollTop=0),this.app.load(a.root,a.tags),t?this.say(l.cut(t)):e.variation_fault?this.say(l.variationCut(e.variation_fault)):e.dropped_rights&&this.say(l.rightsDropped(e.dropped_rights))}};function to(i){return i instanceof Error?i.message:String(i)}function zl(i,e){let t=`${e+1}.`;if(!("fen"in i))return`${t} ${l.unread(i.fault)}`;let a=!i.tags.length&&!i.nodes.length;return`${t} ${a?i.comments[0]??i.fen:fi(Pi(i))}`}function Fl(i,e){let t=e.lines[0]?me(e.lines[0]):0,a=[];return e.lines.forEach((n,r)=>{let o=t-me(n);if(o>eo)return;let s=Math.round(io-(io-Ol)*(o/eo));for(let c of be(i.position,n.pv[0],r===0?"blue":"paleBlue"))a.push({...c,modifiers:{lineWidth:s},...r===0?{}:{label:{text:`${Math.round(100*Ne(n,i.turn))}`}}})}),a.reverse()}var ze=class{constructor(e,t="white"){this.state=e;this.side=t}state;side;since=null;static of(e){let[t=0,a=0]=e.split("+").map(n=>Number(n)*1e3);return{left:[t,t],increment:a}}run(e){this.stop(),this.side=e,this.since=performance.now()}stop(){this.since!==null&&(this.state.left[Ka(this.side)]=this.left(this.side),this.since=null)}addIncrement(e){this.state.left[Ka(e)]+=this.state.increment}left(e){let t=this.since!==null&&e===this.side?performance.now()-this.since:0;return Math.max(0,this.state.left[Ka(e)]-t)}runs(e){return this.since!==null&&this.side===e}};function Ka(i){return i==="white"?0:1}function zi(i,e){let t=i.path().reverse().find(n=>n.parent?.turn===e),a=t&&Li(t.comments,"clk")?.split(":").map(Number);return!a||a.some(n=>!(n>=0))?null:1e3*a.reduce((n,r)=>60*n+r,0)}function ao(i){let e=Math.floor(i/100),t=n=>String(n).padStart(2,"0"),a=Math.floor(e/10);return`[%clk ${Math.floor(a/3600)}:${t(Math.floor(a/60)%60)}:${t(a%60)}.${e%10}]`}function no(i){let e=Math.floor(i/1e3),t=r=>String(r).padStart(2,"0");if(i<2e4)return`0:${t(e)}.${Math.floor(i%1e3/100)}`;let a=Math.floor(e/3600),n=Math.floor(e/60)%60;return a?`${a}:${t(n)}:${t(e%60)}`:`${n}:${t(e%60)}`}function St(i,e){return{result:i==="white"?"0-1":"1-0",words:e}}function Je(i){return{result:"1/2-1/2",words:i}}function Na(i){let e=i.position;if(e.isCheckmate())return St(i.turn,l.results.checkmate(l.side[y(i.turn)]));if(e.isStalemate())return Je(l.results.stalemate);if(e.isInsufficientMaterial())return Je(l.results.insufficient);if(e.halfmoves>=100)return Je(l.results.fifty);let t=xe(e),a=0;for(let n=i;n;n=n.parent)xe(n.position)===t&&(a+=1);return a>=3?Je(l.results.repetition):null}function ro(i,e){return i.position.board[e].size()>1}var oo=1e3,Wl=20,Hl=10,Oa="other",Bt=class{constructor(e,t,a,n){this.app=e;this.turnBoard=t;this.drawClocks=a;this.report=n;this.table.append(this.status,this.actions),this.element=d("div",{},this.table,this.setup),setInterval(()=>this.tick(),100)}app;turnBoard;drawClocks;report;element;game=null;settings={elo:1500,side:"white",time:null,atOnce:!1,evaluation:!0,...W("settings")};hinting=!1;message="";asked=null;answer;shownSetup=!1;setup=d("div");table=d("div");status=d("p",{role:"status",id:"game-status"});actions=d("div",{class:"row"});restore(e){let t=W("game");if(!(!t||t.end&&!e))try{let{root:a,tags:n}=Oe(t.moves),r=a.last(),o=t.clock?new ze(t.clock):null;this.game={...t,clock:o,tip:r,score:null},this.app.load(a,n,r),this.turnBoard(t.me)}catch{}}hasGame(){return this.game!==null}isPlaying(){return this.game!==null&&this.game.end===null}open(){this.game?.end&&this.app.root!==this.game.tip.root()&&(this.game=null);let e=this.game;if(e){for(let t of e.tip.path())t.add();this.app.root!==e.tip.root()&&this.app.load(e.tip.root(),this.tags(e),e.tip),this.app.go(e.tip),this.goOn()}}leave(){this.silence(),this.game?.clock?.stop(),this.save()}update(){this.draw()}movable(){let e=this.game;return!e||e.end||this.app.current!==e.tip?"none":e.me}clock(){return this.game?.clock??null}hidesEvaluation(){return this.isPlaying()&&!this.settings.evaluation}onMove(e){let t=this.game;if(!t||t.end||this.app.current!==t.tip||t.tip.turn!==t.me)return!0;let a=t.tip.play(e);return a&&this.played(t,a),!0}arrows(){let{current:e}=this.app,t=this.hinting&&e===this.game?.tip?e.info?.lines[0]?.pv[0]:void 0;return be(e.position,t,"green")}async begin(e){if(this.isPlaying()&&this.game?.tip.parent&&!await wa(l.discard,l.begin))return;let{elo:t,side:a,time:n}=this.settings;j("settings",this.settings);let r=a==="random"?Math.random()<.5?"white":"black":a,o=e?de(this.app.current.fen):ci(),s=crypto.getRandomValues(new Uint32Array(1))[0]??0,c=n?new ze(ze.of(n),o.turn):null;this.game={me:r,elo:t,seed:s,clock:c,control:n,end:Na(o),tip:o,score:null},this.silence(),this.save(),this.hinting=!1,this.message="",this.shownSetup=!1,this.app.load(o,this.tags(this.game)),this.turnBoard(r),this.goOn()}tags(e){let t=l.azimuth(e.elo),[a,n]=e.me==="white"?[l.you,t]:[t,l.you],r=new Date,o=c=>String(c).padStart(2,"0"),s=new Map([["Event","Azimuth"],["Date",`${r.getFullYear()}.${o(r.getMonth()+1)}.${o(r.getDate())}`],["White",a],["Black",n],["Result",e.end?.result??"*"]]);return e.control&&s.set("TimeControl",e.control),s}played(e,t){let{clock:a}=e;a&&(a.stop(),a.addIncrement(e.tip.turn),t.comments=[ao(a.left(e.tip.turn))]),t.promote(),e.tip=t,this.hinting=!1,this.message="",Ea(t.captured?"capture":"move"),this.app.announce(`${t.number} ${t.san}`),this.end(e,Na(t)),this.app.go(t),this.goOn()}end(e,t){e.end=t,t&&(e.clock?.stop(),this.silence(),Ea("end"),this.app.tags=this.tags(e)),this.save()}goOn(){let e=this.game;if(!e||e.end){this.draw();return}(e.tip.ply>1||e.tip.turn!==e.me)&&e.clock?.run(e.tip.turn),e.tip.turn!==e.me?this.askMove(e):this.settings.evaluation&&this.evaluate(e),this.draw()}silence(){this.app.engine.stop(),clearTimeout(this.answer),this.asked=null}askMove(e){let t=e.tip;this.asked="move";let a=e.clock?{left:[Math.round(e.clock.left("white")),Math.round(e.clock.left("black"))],increment:e.clock.state.increment}:{milliseconds:oo},n={name:"play",elo:e.elo,seed:e.seed,time:a};this.app.engine.run(Z(t),n,r=>{if(!(this.game!==e||e.tip!==t||e.end)){if(r.type==="move"){let{cp:o,mate:s}=r.score;e.score=s===void 0?o??null:s>0?1e4:-1e4,this.answer=setTimeout(()=>{this.asked=null;let c=t.playUci(r.uci);c&&this.played(e,c)},this.settings.atOnce?0:r.pause);return}r.type==="queued"?(this.asked="queued",e.clock?.stop()):r.type==="begun"?(this.asked="move",e.clock?.run(t.turn)):r.type==="error"&&(this.asked="failed",e.clock?.stop()),this.hearOther(r)}})}hearOther(e){e.type==="ended"?this.asked=null:this.message=se(e)??this.message,e.type==="error"&&this.asked==="evaluation"&&(this.asked=null,this.hinting=!1),this.draw()}askHint(){let e=this.game;!e||e.end||e.tip.turn!==e.me||(this.hinting=!0,this.app.go(e.tip),this.asked!=="evaluation"&&this.evaluate(e),this.showHint(e.tip),this.draw())}showHint(e){let t=e.info?.lines[0]?.pv[0],[a]=t?ae(e.position,[t]):[];this.hinting&&a&&this.message!==l.hintIs(a)&&(this.message=l.hintIs(a),this.draw()),this.app.redraw()}evaluate(e){let{tip:t}=e;this.asked="evaluation";let a={name:"analyse",lines:1,milliseconds:oo};this.app.engine.run(Z(t),a,n=>{this.game!==e||e.tip!==t||(n.type==="info"?(this.app.learn(t,n),this.showHint(t)):(n.type==="error"||n.type==="ended"||this.hinting)&&this.hearOther(n))})}takeBack(){let e=this.game;if(!e)return;let t=e.tip.parent;for(;t&&t.turn!==e.me;)t=t.parent;if(t){if(this.silence(),e.clock?.stop(),e.control){let{left:a,increment:n}=ze.of(e.control),[r,o]=[zi(t,"white")??a[0],zi(t,"black")??a[1]];e.clock=new ze({left:[r,o],increment:n},t.turn)}e.tip=t,e.end=null,t.children.splice(0),this.hinting=!1,this.message="",this.app.tags=this.tags(e),this.app.current=t,this.save(),this.goOn(),this.app.update()}}offerDraw(){let e=this.game;if(!e||e.end)return;this.hinting=!1,e.tip.position.fullmoves<Hl?this.message=l.drawEarly:e.score!==null&&e.score<=Wl?(this.message=l.drawAccepted,this.end(e,Je(l.results.agreement))):this.message=l.drawDeclined,this.draw(),this.app.redraw()}async resign(){let e=this.game;!e||!await wa(l.resignNow,l.resign)||e.end||(this.end(e,St(e.me,l.results.resigns(l.side[e.me]))),this.draw(),this.app.redraw())}tick(){let e=this.game;if(!e?.clock||e.end||this.app.tab!=="play")return;!this.app.engine.isOpen()||this.asked==="queued"||this.asked==="failed"?e.clock.stop():e.tip.ply>1&&!e.clock.runs(e.tip.turn)&&e.clock.run(e.tip.turn);let t=e.tip.turn;if(e.clock.left(t)===0){let a=ro(e.tip,y(t));this.end(e,a?St(t,l.results.time(l.side[t])):Je(l.results.timeDraw)),this.draw(),this.app.redraw()}this.drawClocks()}pgn(e){return Ue(this.tags(e),$i(e.tip).root())}save(){let e=this.game;if(!e)return;let{me:t,elo:a,seed:n,control:r,end:o}=e,s=e.clock?{left:[e.clock.left("white"),e.clock.left("black")],increment:e.clock.state.increment}:null,c=ft(this.tags(e),$i(e.tip).root());j("game",{moves:c,me:t,elo:a,seed:n,clock:s,control:r,end:o})}draw(){let e=this.game;this.table.hidden=!e;let t=!e||this.shownSetup;if(this.setup.hidden=!t,t&&!this.setup.childElementCount&&this.drawSetup(),!e)return;let a=this.asked==="failed"?"":l.thinking,n=e.end?e.end.words:e.tip.turn===e.me?l.yourMove:a;this.status.textContent=[n,this.message].filter(Boolean).join(" ");let r=!e.end,o=r&&e.tip.turn===e.me,s=[["takeback",l.takeback,()=>this.takeBack(),e.tip.path().some(h=>h.parent?.turn===e.me)],["hint",l.hint,()=>this.askHint(),o&&!this.hinting],["draw",l.draw,()=>this.offerDraw(),o],["resign",l.resign,()=>{this.resign()},r],["save",l.savePgn,()=>qe("game.pgn","application/x-chess-pgn",this.pgn(e)),!0],["again",l.newGame,()=>this.showSetup(),!0],["study",l.analyseGame,()=>this.study(e),e.end!==null]];this.asked==="failed"&&s.unshift(["retry",l.retry,()=>this.goOn(),!0]);let c=document.activeElement?.id;this.actions.replaceChildren(...s.map(([h,u,m,f])=>v(u,m,{id:`play-${h}`,disabled:!f}))),c?.startsWith("play-")&&document.getElementById(c)?.focus()}study(e){e.tip.promote(),e.tip.children.length&&(e.tip=$i(e.tip),this.app.load(e.tip.root(),this.tags(e),e.tip)),this.report()}showSetup(){this.shownSetup=!this.shownSetup,this.draw()}drawSetup(){let[e,t]=this.app.elo,{settings:a}=this,n=Math.max(e,Math.min(t||1/0,a.elo??t)),r=d("input",{type:"range",min:e,max:t,value:n,id:"elo","aria-label":l.rating}),o=d("input",{type:"number",min:e,max:t,value:n,id:"elo-number","aria-label":l.rating}),s=d("input",{type:"checkbox",id:"full"});s.checked=a.elo===null;let c=()=>{if(r.disabled=o.disabled=s.checked||!t,!t)return;let x=Math.round(Number(o.value))||e,w=Math.max(e,Math.min(t,x));a.elo=s.checked?null:w};r.addEventListener("input",()=>{o.value=r.value,c()}),o.addEventListener("click",()=>o.select()),o.addEventListener("change",()=>{c(),o.value=r.value=String(a.elo??t)}),s.addEventListener("change",c);let h=d("select",{id:"side"},d("option",{value:"white"},l.side.white),d("option",{value:"black"},l.side.black),d("option",{value:"random"},l.random));h.value=a.side,h.addEventListener("change",()=>a.side=h.value);let u=l.clocks.map(([x])=>x),m=d("select",{id:"time"},d("option",{value:""},l.noClock),...l.clocks.map(([x,w])=>d("option",{value:x},w)),d("option",{value:Oa},l.otherTime));m.value=!a.time||u.includes(a.time)?a.time??"":Oa;let[f,g]=(a.time??"900+10").split("+").map(Number),b=d("input",{type:"number",id:"minutes",min:.5,max:180,step:.5,value:(f??900)/60}),B=d("input",{type:"number",id:"increment",min:0,max:180,value:g??10}),G=d("div",{class:"field"},M(l.minutes,b),M(l.increment,B)),S=()=>{let x=w=>Math.max(Number(w.min),Math.min(Number(w.max),Number(w.value)));G.hidden=m.value!==Oa,a.time=G.hidden?m.value||null:`${Math.round(60*x(b))}+${Math.round(x(B))}`};for(let x of[m,b,B])x.addEventListener("change",S);let z=d("input",{type:"checkbox",id:"from-here"}),_=d("input",{type:"checkbox",id:"at-once"});_.checked=a.atOnce,_.addEventListener("change",()=>a.atOnce=_.checked);let F=d("input",{type:"checkbox",id:"show-evaluation"});F.checked=a.evaluation,F.addEventListener("change",()=>a.evaluation=F.checked),c(),S(),this.setup.replaceChildren(d("h2",{},l.newGame),d("div",{class:"field"},d("span",{},l.opponent),o,M(l.fullStrength,s)),r,d("div",{class:"field"},M(l.youPlay,h),M(l.time,m)),G,v(l.begin,()=>{this.begin(z.checked)},{class:"primary",id:"begin",disabled:!t}),...[M(l.fromHere,z),M(l.atOnce,_),M(l.showEvaluation,F)].map(x=>d("div",{class:"field"},x)))}};var Gt=1e3;function jl({cp:i=0,mate:e},t){let a=e===void 0?Math.max(-Gt,Math.min(Gt,i)):e>0?Gt:-Gt;return t==="white"?a:-a}function lo(i){let e=i.map(({judged:t,turn:a})=>t?jl(t.score,a):0);return["white","black"].map(t=>{let a=i.flatMap(({parent:n},r)=>{if(!r||n?.turn!==t)return[];let o=(e[r-1]??0)-(e[r]??0);return[Math.max(0,t==="white"?o:-o)]});return a.length?a.reduce((n,r)=>n+r,0)/a.length:null})}function co({judged:i,turn:e}){let t=i?me(i)-.5:0;return 50+50*(e==="white"?t:-t)}function so(i,e){if(e>=i)return 100;let t=103.1668100711649*Math.exp(-.04354415386753951*(i-e))-3.166924740191411;return Math.max(0,Math.min(100,t+1))}function ho(i,e){let t=i.length-1;if(t<1)return[null,null];let a=Math.max(2,Math.min(8,Math.floor(t/10))),n=[];for(let o=0;o<Math.min(a-2,i.length-2);o+=1)n.push(i.slice(0,a));for(let o=0;o+a<=i.length;o+=1)n.push(i.slice(o,o+a));let r=[[],[]];for(let o=0;o<t;o+=1){let s=e===(o%2===0),[c,h]=[i[o]??50,i[o+1]??50],u=s?so(c,h):so(100-c,100-h),m=Math.max(.5,Math.min(12,Il(n[o]??i.slice(-a))));r[s?0:1].push({weight:m,accuracy:u})}return r.map(o=>{if(!o.length)return null;let s=o.reduce((u,m)=>u+m.weight,0),c=o.reduce((u,m)=>u+m.weight*m.accuracy,0)/s,h=o.length/o.reduce((u,m)=>u+1/Math.max(1,m.accuracy),0);return(c+h)/2})}function Il(i){let e=i.reduce((t,a)=>t+a,0)/i.length;return Math.sqrt(i.reduce((t,a)=>t+(a-e)**2,0)/i.length)}var bi=600,Vi=130,Et=4;function uo(i,e,t){let a=m=>Et+(bi-2*Et)*(m/Math.max(1,i.length-1)),n=m=>4+(Vi-8)*(1-m),r=i.flatMap((m,f)=>m.judged?[{node:m,at:f,p:Ne(m.judged,m.turn)}]:[]),o=r.map(({at:m,p:f})=>`${a(m).toFixed(1)},${n(f).toFixed(1)}`).join(" "),[s,c]=[r[0],r[r.length-1]],h=E("svg",{class:"graph",viewBox:`0 0 ${bi} ${Vi}`,role:"img","aria-label":l.graph,id:"graph"});if(h.append(E("rect",{width:bi,height:Vi,fill:"var(--black-share)"})),s&&c){let m=`${a(s.at)},${Vi} ${o} ${a(c.at)},${Vi}`;h.append(E("polygon",{points:m,fill:"var(--white-share)"}))}h.append(E("line",{x1:0,x2:bi,y1:n(.5),y2:n(.5),stroke:"#8c959f","stroke-dasharray":"4 4"}),E("polyline",{points:o,fill:"none",stroke:"#1f6fd0","stroke-width":2}));for(let{node:m,at:f,p:g}of r){let b=m.judged?.judgement;b&&h.append(E("circle",{cx:a(f),cy:n(g),r:5,fill:`var(--${b})`,stroke:"var(--paper)"}))}let u=i.indexOf(e);return u>=0&&h.append(E("line",{x1:a(u),x2:a(u),y1:0,y2:Vi,stroke:"#d9480f","stroke-width":3})),h.addEventListener("click",m=>{let f=h.getBoundingClientRect(),g=(m.clientX-f.left)/f.width*bi;t(Math.max(0,Math.min(i.length-1,Math.round((g-Et)/(bi-2*Et)*(i.length-1)))))}),h}var ql=700,_l=.06,Zl={inaccuracy:6,mistake:2,blunder:4},mo=["inaccuracy","mistake","blunder"],po=10,Mt=class{constructor(e,t,a){this.app=e;this.openGame=t;this.askWhy=a;this.time.append(...l.reportTimes.map(([r,o])=>d("option",{value:r},o))),this.time.value="100",this.start=v(l.reportStart,()=>this.begin(),{class:"primary",id:"report-start"}),this.actions=d("div",{class:"row"},v(l.toPrevious,()=>this.seek(-1),{id:"previous-mistake","aria-label":l.previousMistake}),this.whose,v(l.toNext,()=>this.seek(1),{id:"next-mistake","aria-label":l.nextMistake})),this.saving=d("div",{class:"row",id:"saving"},v(l.savePgn,()=>this.savePgn()),v(l.saveJson,()=>this.saveJson()));let{recording:n}=e;this.element=d("div",{id:"report"},n?this.chooser(n.tags):d("div",{class:"row"},this.start,M(l.reportTime,this.time)),this.graphBox,this.counts,this.actions,this.status,this.about,this.saving,...(n?.credits??[]).map(r=>d("p",{class:"note",lang:"en"},r)))}app;openGame;askWhy;element;line=[];message="";end=null;seeking=!1;chosenFor=null;seen=null;retrying=null;time=d("select",{id:"report-time"});start;status=d("p",{role:"status",class:"note"});graphBox=d("div");counts=d("table",{id:"counts"});about=d("div",{id:"about"});actions;saving;games=d("select",{id:"games"});whose=d("select",{id:"whose","aria-label":l.whose},d("option",{value:""},l.both),d("option",{value:"white"},l.side.white),d("option",{value:"black"},l.side.black));chooser(e){return this.games.append(...e.map((t,a)=>d("option",{value:a},fi(t)))),this.games.addEventListener("change",()=>this.openGame(Number(this.games.value))),d("div",{class:"row",hidden:e.length<2},M(l.game,this.games))}open(){this.message=""}leave(){this.app.engine.stop(),this.retrying=null}update(){let e=this.app.current;this.seen!==e&&(this.seen=e,this.message=""),this.retrying&&e!==this.retrying.parent&&(this.retrying=null),this.draw()}onKey(e){if(e==="n")this.seek(1);else if(e==="p")this.seek(-1);else return!1;return!0}mainLine(){let e=this.app.root.mainLine(),t=this.app.recording?e.filter(n=>n.judged).length:0,a=t?t-1:this.end?e.indexOf(this.end):-1;return a>0?e.slice(0,a+1):e}analyse(){this.app.openTab("report"),this.app.go(this.app.root),this.begin(),this.seeking=!0}begin(){this.seeking=!1,this.retrying=null,this.end=null,this.line=this.mainLine();let e=this.line;if(e.length<2){this.message=l.reportNone,this.draw();return}for(let n of e)n.judged=null;let t=e[e.length-1];this.end=t;let a={name:"report",milliseconds:Number(this.time.value)};this.app.engine.run(Z(t),a,n=>this.hear(e,n)),this.draw()}hear(e,t){if(this.message=se(t)??this.message,t.type==="judged"){let a=e[t.ply];a&&(a.judged=t),this.message=t.ply+1<e.length?l.reportProgress(t.ply+1,e.length):"",a&&this.seeking&&this.isSought(a)&&(this.seeking=!1,this.app.current===this.app.root&&this.app.go(a))}else t.type==="ended"&&t.reason==="done"&&this.seeking&&(this.message=l.noMistake);(t.type!=="judged"||!this.element.matches(":active"))&&this.draw(),this.app.redraw()}isComplete(){return this.mainLine().length>1&&this.mainLine().every(e=>e.judged)}isSought({parent:e,judged:t}){return!!t?.judgement&&(this.whose.value===""||this.whose.value===e?.turn)}seek(e){let t=this.mainLine(),a=t.indexOf(this.app.current);for(let n=a+e;n>=0&&n<t.length;n+=e){let r=t[n];if(r&&this.isSought(r)){this.app.go(r);return}}this.message=l.noMistake,this.draw()}arrows(){let e=this.app.current;if(this.retrying)return[];let t=e.parent,a=e.judged?.judgement&&t?.judged?.pv[0];return be((a&&t?t:e).position,a||e.judged?.pv[0],a?"green":"paleBlue")}onMove(e){let t=this.retrying,a=t?.parent;if(!t||!a||this.app.current!==a)return!1;let n=a.after(e);return n&&(this.app.engine.stop(),this.judge(t,a,n)),!0}judge(e,t,a){let n=t.judged;if(!n)return;let{compared:r=[]}=n,o=(c,h)=>{h&&(this.retrying=null,a.add(),this.app.go(a)),this.message=c,this.app.update()},s=(c,h=me(n))=>{let u=Math.max(0,h-c),m=u<=_l;o(m?l.retryGood(a.san):l.retryBad(a.san,ya(u)),m)};if(a===e)s(me(n)-(a.judged?.loss??0));else if(a.position.isEnd())s(a.position.isCheckmate()?1:.5);else if(this.app.recording){let c=r.find(({uci:h})=>ae(t.position,[h])[0]===a.san);c?s(c.expected_score,r[0]?.expected_score):o(l.retryUnknown(a.san,r.length),!1)}else{let c=null,h={name:"analyse",lines:1,milliseconds:ql};this.app.engine.run(Z(a),h,u=>{u.type==="info"?c=u.lines[0]?1-me(u.lines[0]):c:u.type==="ended"&&c!==null&&this.retrying===e?s(c):(u.type==="queued"||u.type==="error"||u.type==="ended"&&u.reason==="turn")&&(this.message=se(u)??"",this.draw())})}}retry(e){e.parent&&(this.app.go(e.parent),this.retrying=e,this.message=l.retryNow,this.app.update())}draw(){if(this.line=this.mainLine(),this.app.recording&&(this.games.value=String(this.app.recording.shown)),this.chosenFor!==this.app.root){this.chosenFor=this.app.root;let t=["White","Black"].find(a=>this.app.tags.get(a)===l.you);this.whose.value=t?.toLowerCase()??""}this.status.textContent=this.message||" ";let e=this.end?.root()===this.app.root||this.line.some(t=>t.judged);if(this.actions.hidden=this.saving.hidden=this.counts.hidden=this.graphBox.hidden=!e,!e){this.about.replaceChildren();return}this.graphBox.replaceChildren(uo(this.line,this.app.current,t=>{let a=this.line[t];a&&this.app.go(a)})),this.drawCounts(),this.drawAbout()}drawCounts(){let e=["white","black"],t=(h,u)=>this.line.filter(m=>m.parent?.turn===h&&m.judged?.judgement===u).length,a=this.isComplete(),n=a?ho(this.line.map(co),this.app.root.turn==="white"):[],r=a?lo(this.line):[],o=["",l.accuracy,l.centipawns,...mo.map(h=>l.judgements[h][1])],s=d("tr",{},...o.map(h=>h?d("th",{scope:"col"},h):d("td"))),c=e.map((h,u)=>{let m=n[u]??null,f=[d("td",{},m===null?"–":l.percent(m.toFixed(0))),d("td",{},r[u]?.toFixed(0)??"–"),...mo.map(g=>d("td",{class:g},String(t(h,g))))];return d("tr",{},d("th",{scope:"row"},l.side[h]),...f)});this.counts.replaceChildren(d("thead",{},s),d("tbody",{},...c))}drawAbout(){let e=this.app.current,t=this.retrying,a=t?[d("div",{class:"row"},v(l.showBetter,()=>this.app.go(t),{id:"show-better"}))]:e.judged?this.described(e,e.judged):[];ui(this.about,a)}described(e,t){let a=e.parent,n=d("h2",{},a?`${e.number} ${e.san} `:l.start);t.judgement&&n.append(d("span",{class:t.judgement},l.judgements[t.judgement][0]));let r=t.wdl?[mi(Ze(t.wdl,e.turn))]:[],o=this.app.engine.runs("report"),s=t.judgement&&a?.judged?[v(l.retry,()=>this.retry(e),{id:"retry",disabled:o})]:[],{askWhy:c}=this,h=t.judgement&&c?[v(l.whyThis,()=>c(e),{id:"ask-why",disabled:o})]:[],m=[d("div",{class:"row head"},n,...s,...h),d("p",{class:"figures"},[_e(t.score,e.turn),...r].join(". "))];t.loss!==null&&t.rank&&m.push(d("p",{},l.gives(ya(t.loss),t.rank[0],t.rank[1]))),t.remark&&m.push(d("p",{class:"remark",lang:"en"},t.remark)),a||m.push(d("p",{class:"note"},Or(this.app.tags)));let[f,g]=[Li(e.comments,"clk"),Li(e.comments,"eval")],b=[f&&l.clock(f),g&&l.inFile(g)].filter(Boolean).join(", ");return b&&m.push(d("p",{class:"note"},b)),t.judgement&&a?.judged&&m.push(this.clickable(l.better,a,a.judged)),t.pv.length&&m.push(this.clickable(l.best,e,t)),m}clickable(e,t,a){return d("p",{class:"better"},`${e} `,...xa(this.app,t,a.pv.slice(0,po)))}savePgn(){let e=Ue(this.app.tags,this.app.root,t=>{let{judged:a}=t;if(!a)return{comments:[],nags:[]};let n=[`[%eval ${Ul(a,t.turn)}]`],r=a.judgement&&t.parent?.judged;return r&&t.parent&&n.push(`${l.better} ${Wr(t.parent,r.pv.slice(0,po))}`),{comments:[n.join(" ")],nags:a.judgement?[Zl[a.judgement]]:[]}});qe("report.pgn","application/x-chess-pgn",e)}saveJson(){let e=this.line.map(n=>({ply:n.ply,fen:n.fen,move:n.san||null,comments:n.comments,white_expected_score:n.judged?Ne(n.judged,n.turn):null,white_wdl:n.judged?.wdl?Ze(n.judged.wdl,n.turn):null,score:n.judged?_e(n.judged.score,n.turn):null,best:n.judged?ae(n.position,n.judged.pv):null,loss:n.judged?.loss??null,judgement:n.judged?.judgement??null})),t=Mi(this.line.at(-1)??this.app.root),a=JSON.stringify({tags:Object.fromEntries(this.app.tags),opening:t,positions:e},null,2);qe("report.json","application/json",a)}};function Ul({score:i},e){let t=e==="white"?1:-1;return i.mate!==void 0?`#${t*i.mate}`:(t*(i.cp??0)/100).toFixed(2)}function za(i){return i.split(" ")[1]==="b"?"black":"white"}function go(i,e,t){let a=null,n=null;for(let c of t){if(za(c.fen)!==e)continue;let[h]=c.at;h<=i&&(!a||h>a.at[0])&&(a=c),h>=i&&(!n||h<n.at[0])&&(n=c)}let[r,o]=[a??n,n??a];if(!r||!o)return .5;let s=o.at[0]-r.at[0];return r.p+(s&&(i-r.at[0])/s)*(o.p-r.p)}var Jl=.6;function bo(i){let e=Ql(i.map(({at:[,t]})=>t),i.map(({at:[t]})=>Math.abs(t)));return Math.abs(e)<Jl?null:e>0?"up":"down"}function Ql(i,e){let t=i.length;if(t<2)return 0;let[a,n]=[fo(i),fo(e)];return 1-6*a.reduce((o,s,c)=>o+(s-(n[c]??0))**2,0)/(t*(t**2-1))}function fo(i){let e=[];return i.map((a,n)=>({value:a,at:n})).sort((a,n)=>a.value-n.value).forEach(({at:a},n)=>e[a]=n),e}var Fe=640,Fi=360,Vo=14,Yl=500,xt=class extends gi{element;sample=null;up=d("span");down=d("span");frame=d("div",{class:"map-frame"});where=d("p",{id:"where"});player=v("",()=>this.toggle(),{id:"play-game"});nearTitle=d("h2",{},l.spaceNear.alike);nearBox=d("div",{class:"near",id:"near"});note=d("p",{class:"note"});popup=d("div",{class:"popup",hidden:!0});here=E("circle",{r:7,fill:"var(--blunder)",stroke:"var(--paper)","stroke-width":2,id:"here"});svg=null;timer=null;next=null;constructor(e){super(e);let{lost:t,won:a}=l.spaceAxes;this.element=d("div",{class:"space"},d("p",{class:"axis"},this.up),this.frame,d("p",{class:"axis"},d("span",{},`← ${t}`),this.down,d("span",{},`${a} →`)),d("div",{class:"row"},this.player,this.where,this.message),this.nearTitle,this.nearBox,d("details",{},d("summary",{},l.researchers),this.note)),this.pause()}leave(){super.leave(),this.pause()}show(e){e!==this.next&&this.pause(),this.player.disabled=!this.app.root.children.length;let t=this.sample===null,{recording:a}=this.app;if(a){this.learn(a.space(e,t));return}this.ask(e,{name:"space",sample:t},n=>{n.type==="space"&&this.learn(n)})}toggle(){if(this.timer!==null){this.pause();return}let{current:e,root:t}=this.app;e.children.length||this.app.go(t),this.timer=window.setInterval(()=>this.step(),Yl),this.player.textContent=`❚❚ ${l.pauseGame}`}step(){this.app.engine.runs("space")||(this.next=this.app.current.children[0]??null,this.next&&this.app.go(this.next),this.next?.children.length||this.pause())}pause(){this.timer!==null&&clearInterval(this.timer),this.timer=null,this.player.textContent=`▶︎ ${l.playGame}`}arrows(){return[]}learn(e){e.sample&&(this.sample=e.sample,this.svg=null),this.note.textContent=l.spaceIntro(l.spaceWeights[e.weights]),this.draw(e);let{current:t,recording:a}=this.app;this.describe(e,a?t.onMainLine():t)}placer(){let e=this.sample??[],t=Math.max(.05,...e.map(r=>Math.abs(r.at[0]))),a=Math.max(.05,...e.map(r=>Math.abs(r.at[1]))),n=r=>Math.max(-1,Math.min(1,r));return([r,o])=>[Fe/2+(Fe/2-Vo)*n(r/t),Fi/2-(Fi/2-Vo)*n(o/a)]}draw(e){let t=this.placer();this.svg||(this.svg=this.background(t),this.frame.replaceChildren(this.svg,this.popup),this.nameAxis());let a=this.svg;a.querySelector("#game")?.remove();let n=e.path.at(-1)??[0,0];a.setAttribute("aria-label",l.spaceLabel(n[0].toFixed(3),e.candidates.length));let r=E("g",{id:"game"});for(let b of e.candidates){let[B,G]=t(b.at),[S,z]=t(n);r.append(E("line",{x1:S,y1:z,x2:B,y2:G,stroke:"var(--soft)","stroke-width":.7,opacity:.5}),E("circle",{cx:B,cy:G,r:4,fill:"var(--mistake)",stroke:"var(--paper)",class:"candidate"},E("title",{},`${b.san} ${oe(b.p)}`)))}let o={fill:"none",stroke:"var(--curve)","stroke-width":2.5};e.ahead&&r.append(E("path",{...o,d:Ao(e.ahead.map(t)),opacity:.35})),r.append(E("path",{...o,d:Ao(e.path.map(t)),id:"game-path"}));let{root:s,current:c,recording:h}=this.app,u=h||c.isOnMainLine()?s.mainLine():[s,...c.path()];[...e.path,...(e.ahead??[]).slice(1)].forEach((b,B)=>{let[G,S]=t(b),z=E("circle",{cx:G,cy:S,r:2.5,fill:"var(--curve)",class:"step",stroke:"transparent","stroke-width":9});z.addEventListener("click",()=>{let _=u[B];_&&this.app.go(_)}),r.append(z)}),a.insertBefore(r,this.here);let[f,g]=t(n);this.here.setAttribute("cx",String(f)),this.here.setAttribute("cy",String(g))}nameAxis(){let{even:e,decided:t}=l.spaceAxes,a=bo(this.sample??[]);this.up.textContent=a?`↑ ${a==="up"?t:e}`:"",this.down.textContent=a?`↓ ${a==="up"?e:t}`:""}background(e){let t=E("svg",{class:"map",viewBox:`0 0 ${Fe} ${Fi}`,role:"img",id:"map"}),a=E("g",{opacity:.75});for(let r of this.sample??[]){let[o,s]=e(r.at),c=r.mate===void 0?Xl(r.p):r.mate>0?"var(--good)":"var(--blunder)";a.append(r.mate===void 0?E("circle",{cx:o.toFixed(1),cy:s.toFixed(1),r:1.8,fill:c}):E("rect",{x:(o-2).toFixed(1),y:(s-2).toFixed(1),width:4,height:4,fill:c}))}let n=Fi/2;return t.append(a,E("line",{x1:8,x2:Fe-18,y1:n,y2:n,stroke:"var(--soft)","stroke-dasharray":"6 4"}),E("polygon",{points:`${Fe-18},${n-5} ${Fe-6},${n} ${Fe-18},${n+5}`,fill:"var(--soft)"}),this.here),t.addEventListener("pointermove",r=>this.hover(t,r,e)),t.addEventListener("pointerleave",()=>this.popup.hidden=!0),t}hover(e,t,a){let n=e.getBoundingClientRect(),r=(t.clientX-n.left)/n.width*Fe,o=(t.clientY-n.top)/n.height*Fi,s=null,c=8;for(let u of this.sample??[]){let[m,f]=a(u.at),g=Math.hypot(m-r,f-o);g<c&&([s,c]=[u,g])}if(this.popup.hidden=!s,!s)return;let h=Math.min(t.clientX-n.left+12,n.width-170);this.popup.style.left=`${Math.max(0,h)}px`,this.popup.style.top=`${t.clientY-n.top+12}px`,this.popup.dataset.fen!==s.fen&&(this.popup.dataset.fen=s.fen,this.popup.replaceChildren(ko(s.fen),d("p",{},Co(s))))}describe(e,t){let a=this.sample??[],[n]=e.path.at(-1)??[0],r=go(n,t.turn,a);this.where.textContent=l.spaceWhere(l.percent(String(Math.round(100*r))));let o=e.near.flatMap(s=>a[s]??[]);this.nearTitle.textContent=l.spaceNear[e.alike?"alike":"any"],this.nearBox.replaceChildren(...o.map(s=>d("figure",{},ko(s.fen),d("figcaption",{},Co(s)))))}};function Co(i){return`${l.spaceWhite(oe(i.p))}. ${l.toMove(l.side[za(i.fen)])}`}function ko(i){let e=d("div",{class:"mini cg-wrap",role:"img","aria-label":i});return ut(e,{fen:i,viewOnly:!0,coordinates:!1,animation:{enabled:!1},drawable:{enabled:!1,visible:!1}}),e}function Xl(i){let e=Math.round(10+120*i),t=Math.round(20+110*Math.abs(i-.5));return`hsl(${e} ${t}% 48%)`}function Ao(i){let[e]=i;if(!e)return"";let t=`M${e[0].toFixed(1)} ${e[1].toFixed(1)}`;for(let a=0;a+1<i.length;a+=1){let[n,r]=[i[a]??e,i[a+1]??e],[o,s]=[i[a-1]??n,i[a+2]??r],c=[n[0]+(r[0]-o[0])/6,n[1]+(r[1]-o[1])/6],h=[r[0]-(s[0]-n[0])/6,r[1]-(s[1]-n[1])/6];t+=` C${[...c,...h,...r].map(u=>u.toFixed(1)).join(" ")}`}return t}var Fa=6,$l={exact:"",upper:"≤",lower:"≥"},Tt=class extends gi{element;question=null;asked=null;grown=null;explanation=null;reason=d("p",{id:"reason",role:"status",lang:"en"});researchers;explained=null;rows=d("tbody");beamTitle=d("p",{class:"note"});plies=d("tbody");tree=d("div",{class:"tree",id:"beam"});constructor(e){super(e);let t=r=>d("thead",{},d("tr",{},...r.map(o=>d("th",{scope:"col"},o)))),a=d("table",{id:"why-table","aria-describedby":"why-caption"},t(l.whyColumns),this.rows),n=d("table",{id:"plies"},t(l.beamColumns),this.plies);this.researchers=d("details",{id:"researchers"},d("summary",{},l.researchers),d("p",{class:"note",id:"why-caption"},l.whyCaption),d("div",{class:"scroll",tabindex:"0",role:"group","aria-label":l.tabs.why},a),d("h2",{},l.beam),d("p",{class:"note"},l.beamIntro),this.beamTitle,n,this.tree),this.researchers.addEventListener("toggle",()=>this.grow()),this.element=d("div",{},this.reason,this.message,d("p",{class:"note"},l.whyIntro),this.researchers)}show(e){this.explanation=null,this.rows.replaceChildren(),this.drawTree(null),this.grown=null,this.explain(e,this.question),this.question=null}onMove(e){let t=this.app.current;return t.position.isLegal(e)&&this.explain(t,we(e)),!0}explain(e,t){if(this.asked=t,this.explained=null,this.reason.textContent="",e.position.isEnd()){this.app.engine.stop(),this.message.textContent=l.gameOver;return}this.message.textContent=l.searching,this.ask(e,{name:"why",compared:t?[t]:[]},a=>this.hear(e,a)),this.app.redraw()}hear(e,t){t.type==="begun"?this.message.textContent=l.searching:t.type==="why"?(this.explanation=t.explanation,this.drawTable(e,t.explanation,t.expected),t.complete&&(this.reason.textContent=t.explanation.reason,this.message.textContent=""),this.app.redraw()):t.type==="ended"&&t.reason==="done"&&(this.explained=e,this.grow())}grow(){let e=this.explained;!e||this.grown===e||!this.researchers.open||this.ask(e,{name:"beam"},t=>{t.type==="tree"?this.drawTree(t):t.type==="ended"&&t.reason==="done"&&(this.grown=e)})}arrows(){let e=this.app.current,t=this.explanation?.search.pv[0];if(this.node!==e||!t)return[];let a=this.asked!==t?be(e.position,this.asked,"red"):[];return[...be(e.position,t,"green"),...a]}drawTree(e){this.beamTitle.textContent=e?l.beamDepth(e.depth,Fa):" ";let t=e?tc(e.tree):[],a=Array.from({length:Fa},(n,r)=>{let o=r<(e?.depth??0)?t[r]:void 0,s=o?o.map(String):["–","–"];return d("tr",{},...[String(r+1),...s].map(c=>d("td",{},c)))});this.plies.replaceChildren(...a),this.tree.replaceChildren(...e?vo(e.tree,!0):[])}drawTable(e,t,a){let n=document.activeElement instanceof HTMLElement?document.activeElement.dataset.why:void 0;this.rows.replaceChildren(...t.moves.map((r,o)=>this.row(e,t,r,a[o]??0))),n&&this.rows.querySelector(`[data-why="${CSS.escape(n)}"]`)?.focus()}row(e,t,a,n){let r=e.read(a.san),o=r?we(r):a.uci,s=t.search.pv[0]===a.uci,c=a.own_search??a.searched,h=f=>d("td",{},f),u=v(a.san,()=>this.explain(e,o),{"data-why":a.san}),m=[s?"chosen":"",this.asked===o?"asked":""].filter(Boolean).join(" ");return d("tr",{class:m||void 0},d("td",{},u),h(oe(a.static.win_probability)),h(String(a.rank_before)),h(ic(a.cosine)),h(c?ec(c,n):l.dropped),h(a.rank_after===null?"–":String(a.rank_after)),h(c?String(c.depth):"–"))}};function ec(i,e){let t=i.mate===void 0?"":` #${i.mate}`;return`${$l[i.bound]}${oe(e)}${t}`}function ic(i){return`${i<0?"−":"+"}${Math.abs(i).toFixed(3)}`}function tc(i){let e=[];for(let t=[i];t.length&&e.length<Fa;t=t.flatMap(a=>a.kept??[])){let a=n=>t.reduce((r,o)=>r+n(o),0);e.push([a(n=>n.kept?.length??0),a(n=>(n.dropped?.length??0)+n.others)])}return e}function vo(i,e){let t=(i.kept??[]).map((r,o)=>{let s=`${oe(r.first_sight)} → ${oe(r.searched)}`,c=d("span",{class:"bar"});c.style.width=`${(60*r.searched).toFixed(0)}px`;let h=[c,d("strong",{},r.san),` ${s}`];if(!r.kept?.length&&!r.dropped?.length)return d("li",{},...h);let u=d("details",{},d("summary",{},...h)),m=()=>{u.childElementCount===1&&u.append(...vo(r,e&&o===0))};return u.addEventListener("toggle",m),e&&o===0&&(m(),u.open=!0),d("li",{},u)}),a=(i.dropped??[]).map(r=>`${r.san} ${oe(r.value)}`).join(", "),n=a?[d("p",{class:"none"},l.beamDropped(a,i.others))]:[];return[d("ul",{},...t),...n]}var Do=[["queen","♛",9],["rook","♜",5],["bishop","♝",3],["knight","♞",3],["pawn","♟︎",1]];function ac(i,e){let t=i.path().flatMap(s=>s.captured??[]),a=Do.flatMap(([s,c])=>t.filter(h=>h.color!==e&&h.role===s).map(()=>c)),{board:n}=i.position,r=s=>Do.reduce((c,[h,,u])=>c+u*n.pieces(s,h).size(),0),o=r(e)-r(y(e));return a.join("")+(o>0?` +${o}`:"")}var Pt=class{constructor(e){this.app=e}app;bottom="white";draw(e){this.bottom=e;for(let[t,a]of this.places()){let n=Ti(this.app.tags,a==="white"?"White":"Black")??l.side[a];k(t).replaceChildren(d("span",{class:"name"},n),d("span",{class:"captured"},ac(this.app.current,a)),d("span",{class:"clock",hidden:!0}))}this.drawClocks()}drawClocks(){for(let[e,t]of this.places()){let a=k(e).lastElementChild,n=this.app.panel().clock?.(),r=n?n.left(t):zi(this.app.current,t);a.hidden=r===null,a.classList.toggle("runs",n?.runs(t)??!1),r!==null&&(a.textContent=no(r))}}places(){return[["player-top",y(this.bottom)],["player-bottom",this.bottom]]}};var Wa=class{constructor(e){this.data=e}data;shown=0;get credits(){return[this.data.credit,this.data.board_credit]}get count(){return this.data.games.length}get tags(){return this.data.games.map(Pi)}open(e){this.shown=this.data.games[e]?e:0;let t=this.game(),a=Oe(t);return a.root.mainLine().forEach((n,r)=>n.judged=t.judged[r]??null),a}space(e,t){let a=this.game(),{ply:n}=e.onMainLine();return{weights:this.data.weights,path:a.path.slice(0,n+1),ahead:a.path.slice(n),candidates:[],...a.near[n]??{near:[],alike:!1},...t?{sample:this.data.sample}:{}}}game(){let e=this.data.games[this.shown];if(!e)throw new Error("the file has no game");return e}};function wo(){let i=document.getElementById("data")?.textContent;return i?new Wa(JSON.parse(i)):null}var nc=500,yo=null,Lt=null,Bo=i=>{k("announcement").textContent=i},ie=wo(),Go=new pi(Ci,i=>{k("connection").textContent=i==="open"?"":l.connection[i],document.body.dataset.connection=i},i=>{V.elo=i.elo,Qe?.drawSetup(),Kt?.offer(i)},i=>{k("connection").textContent=l.failed(i)}),V=new et(ie?Br:Go,ie,ie?"report":"play",Eo,Bo),Wi=new mt(i=>V.move(i)),rc=new gt(V),ja=new Pt(V),Rt=ie?null:new Tt(V),Ha=new Mt(V,qa,Rt&&(i=>oc(Rt,i))),Qe=ie?null:new Bt(V,_a,()=>ja.drawClocks(),()=>Ha.analyse()),Kt=ie?null:new yt(V,Wi.grab),So=new xt(V);Qe&&Kt&&Rt?V.panels.set("play",Qe).set("analyse",Kt).set("why",Rt).set("space",So).set("report",Ha):V.panels.set("report",Ha).set("space",So);var Ia=new Ui(V,qa);function qa(i){if(!ie)return;let{root:e,tags:t}=ie.open(i);V.load(e,t)}function oc(i,e){e.parent&&(i.question=e.uci,V.go(e.parent),V.openTab("why"))}function _a(i){Wi.flip(i),ja.draw(Wi.orientation)}function Eo(){let i=V.panel(),e=V.current,t=i.editing?.()??null;Wi.show({node:e,editing:t,movable:i.movable?.()??"both",arrows:V.arrowsShown?i.arrows():[],premove:V.tab==="play"&&(Qe?.isPlaying()??!1),evaluation:!i.hidesEvaluation?.()}),ja.draw(Wi.orientation),rc.draw(),k("moves-section").hidden=!!t;let a=V.tags.size?fi(V.tags):"";k("title").textContent=a,document.title=a?`${a} – Azimuth`:"Azimuth",Ia.changed(),cc();for(let o of V.tabs){let s=o===V.tab,c=k(`tab-${o}`);c.setAttribute("aria-selected",String(s)),c.tabIndex=s?0:-1,k(`panel-${o}`).hidden=!s}yo!==V.tab&&(yo=V.tab,ie||j("tab",V.tab,!0),k("panels").scrollTop=k("panel-side").scrollTop=0);let[n,r]=[!e.parent||!!t,!e.children.length||!!t];k("first").disabled=k("previous").disabled=n,k("next").disabled=k("last").disabled=r,k("move-input").disabled=!!t}function sc(){let i=k("tabs");i.setAttribute("aria-label","Azimuth");for(let[e,{element:t}]of V.panels){let a=v(l.tabs[e],()=>V.openTab(e),{role:"tab",id:`tab-${e}`,"aria-controls":`panel-${e}`});i.append(a);let n=d("div",{role:"tabpanel",id:`panel-${e}`,class:"panel","aria-labelledby":`tab-${e}`,tabindex:"0"});n.append(t),k("panels").append(n)}i.addEventListener("keydown",e=>{let t=e.key==="ArrowRight"?1:e.key==="ArrowLeft"?-1:0;if(!t)return;e.preventDefault();let{tabs:a}=V,n=a[(a.indexOf(V.tab)+t+a.length)%a.length]??V.tab;V.openTab(n),k(`tab-${n}`).focus()})}function lc(){let i=[["first",l.first,()=>V.go(V.root)],["previous",l.previous,()=>V.go(V.current.parent??V.current)],["next",l.next,()=>V.go(V.current.children[0]??V.current)],["last",l.last,()=>V.go(V.current.last())],["flip",l.flip,()=>_a()],["help-button",l.help,Mo]];for(let[t,a,n]of i){let r=k(t);r.setAttribute("aria-label",a),r.title=a,r.addEventListener("click",n)}let e=k("move-input");e.placeholder=l.moveInput,e.setAttribute("aria-label",l.moveInput),k("move-form").addEventListener("submit",t=>{t.preventDefault();let a=e.value,n=V.current.read(a);n?(e.value="",V.move(n)):Bo(l.noSuchMove(a)),e.setAttribute("aria-invalid",String(!n))}),e.addEventListener("keydown",t=>{t.key==="Escape"&&e.blur()}),k("moves-title").textContent=l.moves}function Mo(){let i=k("help"),e=l.tabKeys(V.tabs.length,V.tabs.map(n=>l.tabs[n]).join(", ")),t=[...l.keys,...ie?[]:l.engineKeys,e],a=d("dl",{},...t.flatMap(([n,r])=>[d("dt",{},n),d("dd",{},r)]));i.replaceChildren(d("h2",{id:"help-title"},l.help),a,v(l.close,()=>i.close())),i.showModal()}function cc(){ie||V.tab==="play"||(Lt??=window.setTimeout(xo,nc))}function xo(){Lt!==null&&(clearTimeout(Lt),Lt=null,V.tab!=="play"&&j("analysis",ft(V.tags,V.root)))}function hc(){let i=W("analysis");try{if(i&&(i.nodes.length||i.fen!==ge)){let{root:e,tags:t}=Oe(i);V.load(e,t)}}catch{}V.update(),Ia.follow()}sc();lc();Er();Gr(V,{flip:()=>_a(),help:Mo,typeMove:()=>k("move-input").focus(),toggleArrows:()=>{V.arrowsShown=!V.arrowsShown,Eo()}});if(ie)k("sound").hidden=!0,qa(0),Ia.follow();else{document.addEventListener("visibilitychange",()=>{V.tab==="analyse"&&Kt?.pause(document.hidden)}),addEventListener("pagehide",xo);let i=W("tab");Qe?.restore(i!==null),(i??"play")==="play"&&Qe?.hasGame()?Qe.open():hc(),V.openTab(i??"play"),Go.connect()}document.body.dataset.ready="";})();

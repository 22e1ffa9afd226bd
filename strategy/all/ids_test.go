package all_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const (
	head  = "name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"
	nodes = "12D3KooWGxP1yRrtBDFYZ2uzxEhAxew8C2zUcLhdBGYZp93fJ7Tm, 12D3KooWMMCTprdAZocxAYQ4y7gduJSWvK3gxppEk8upnhVdw1An, 12D3KooWMo5gRbZQ4vRn2bkAA8T5BG1XXwF2pTsedRDBCuBhJQN2"
)

func parseRest(rest string) (*task.Task, error) {
	folder := fstest.MapFS{"t.csv": {Data: []byte("x,neighbors\n0,2\n0.5,1;3\n1,2\n")}}
	return all.Strategies().ParseBeside(folder, "t.yaml", []byte(head+strings.ReplaceAll(rest, "NODES", nodes)))
}

// TestRenamedKeysChangeIDs lists the files whose ID differs from that before keys and values were
// renamed: those with a renamed key, and those for which a default writes one.
func TestRenamedKeysChangeIDs(t *testing.T) {
	for _, c := range []struct{ name, before, idBefore, now, id string }{
		{"default of share",
			``, "bagaaieratzup3op7wuaopbceasikl7oqllujexp2c3hd4wnh5jjo7qjfts5q",
			``, "bagaaierahjj5pl54m4hgfnrq3omympn7lbu4trr5tapprrjs6wsonqlztqeq"},
		{"share of peer-prior",
			`strategy: {share: guarded}`, "bagaaieratzup3op7wuaopbceasikl7oqllujexp2c3hd4wnh5jjo7qjfts5q",
			`strategy: {share: coarse}`, "bagaaierahjj5pl54m4hgfnrq3omympn7lbu4trr5tapprrjs6wsonqlztqeq"},
		{"share of density",
			`strategy: {type: density, share: guarded}`, "bagaaieraehanw2f22ok3xusd725ru765kvvxxhwrl75qlz47swbywgwc27pa",
			`strategy: {type: density, share: coarse}`, "bagaaierarcqzlvlgzx4dlqusf3fgdrgmy5rnraicqgjx74rlzewyrmkds4fa"},
		{"share of constrained-gp",
			`strategy: {type: constrained-gp, share: guarded}`, "bagaaieraedqfawkvqkqnf6bv7gpu6xobtrv2vk6rxqw7wkjufwpmykuurp5a",
			`strategy: {type: constrained-gp, share: coarse}`, "bagaaierabxejsbhsem5ccmwnt6h6uyjo4axup2yl3fd7rgqrh4rs5sdgpi4a"},
		{"hyperparameters: own",
			`surrogate: {hyperparameters: own}`, "bagaaieratzup3op7wuaopbceasikl7oqllujexp2c3hd4wnh5jjo7qjfts5q",
			`surrogate: {hyperparameters: learned}`, "bagaaierahjj5pl54m4hgfnrq3omympn7lbu4trr5tapprrjs6wsonqlztqeq"},
		{"fixed hyperparameters",
			`strategy: {type: fts}
surrogate: {process: known, lengthscales: [0.3], mean: 0, deviation: 1, noise: 0.1}`, "bagaaiera3un3p7eg7ttqutjjw744uqpmi2z2d6qdto4vbk7dcfkskqe4qf4a",
			`strategy: {type: fts}
surrogate: {hyperparameters: fixed, lengthscales: [0.3], mean: 0, signal_std: 1, noise_std: 0.1}`, "bagaaieraw4dvk6odror6nngh5wlfqcibxm6arifplg7owthaigo7a3lp6eta"},
		{"default of comparisons",
			`strategy: {type: constrained-gp, threshold: private}`, "bagaaierauc6ij7lrpnasyvpfy5xnjns6wb6ccrwbmjy3nhduc6y4wte4psoq",
			`strategy: {type: constrained-gp, threshold: private}`, "bagaaieravjpus2coqc5ndwapyr6j5dyf6ni76qjd2g6kvfvtzewhsqfe3hgq"},
		{"comparisons",
			`strategy: {type: constrained-gp, threshold: private, comparisons: 7}`, "bagaaierangvju4dcnivx5qkrsogwlrpuefil3cffuawngglfgj4tw4kamnwa",
			`strategy: {type: constrained-gp, threshold: private, comparisons_per_hour: 7}`, "bagaaieraw4ofovdyzh34nhvnlhnesdwrpnbwqia2ankzgg5a4xd2pqkpez2q"},
		{"default of deadline (consensus)",
			`strategy: {type: consensus}`, "bagaaieragkohwa4eax5wvg23eilg5vur4ylxdfjz55djge24fsm6jtyqy66q",
			`strategy: {type: consensus}`, "bagaaieratz7bmid34tox3zwpnu6sav22agn6sgwxhwbjqb7grcc7cw6yursa"},
		{"deadline (consensus)",
			`strategy: {type: consensus, deadline: 9}`, "bagaaiera7bnrv2ekntngqmvlzcqibzinnutmz53hy3xwb7tdecg67gef377a",
			`strategy: {type: consensus, round_timeout: 9}`, "bagaaierawjbwtkbnnykyv4nonaj5ydqodioshv5qxymz6qh6phbdtufvlz3a"},
		{"weights: likeness",
			`strategy: {type: consensus, mode: asynchronous, weights: likeness}`, "bagaaierahsbeappytka2we2erd7ufgogsixv56aew2n4um5histm77pqdmkq",
			`strategy: {type: consensus, mode: asynchronous, weights: similarity}`, "bagaaieraf77gzjeuhgaycayirlg2cwyzc7en7rfdwi72jj6dj2y3jdcsieva"},
		{"default of deadline (fair)",
			`strategy: {type: fair, roster: [NODES]}`, "bagaaieratw3w25cmawrclsd5aceuzr5cvf6457go2vj4t3jbbd54naaoq2dq",
			`strategy: {type: fair, roster: [NODES]}`, "bagaaierahy75e4p55fagqxvxgxe7cjd2weojo4c3qsg77hhkztye45j6f3iq"},
		{"deadline (fair)",
			`strategy: {type: fair, deadline: 9, roster: [NODES]}`, "bagaaieraz6ahty74jmje2mq2bhbanixohhjbk5nyjmwgry34qqwzjj7zlbqa",
			`strategy: {type: fair, round_timeout: 9, roster: [NODES]}`, "bagaaiera3bvkaljq3vjkaqvmvnfxww52bhpsuk6ozthf4365mt53hqv2ydnq"},
		{"defaults of fts-de and aggregate",
			`strategy: {type: fts-de}
privacy: {mechanism: aggregate, epsilon: 4, roster: [NODES]}`, "bagaaierare57sbbsygkocvl5s6a53bwxsdelbunfdhvlxza3dg5w6b5yuwwa",
			`strategy: {type: fts-de}
privacy: {mechanism: aggregate, epsilon: 4, roster: [NODES]}`, "bagaaieraafpqdfprqcz47bgl5tn3v6viae6fswe5tutbo5cp22q3z3a7rcvq"},
		{"listen",
			`strategy: {type: fts-de, listen: schedule}
privacy: {mechanism: aggregate, epsilon: 4, roster: [NODES]}`, "bagaaierari5kykzvivulov4jrcn3fpbv366eb6oej2stpyb7qdxzgef7vcaa",
			`strategy: {type: fts-de, weights: schedule}
privacy: {mechanism: aggregate, epsilon: 4, roster: [NODES]}`, "bagaaieraf457tpy56cxlfldayr6j4d4hptxr7dcdxcvb4j54hdilbhbwznma"},
		{"contributors, colluding",
			`strategy: {type: fts-de, listen: judged}
privacy: {mechanism: aggregate, epsilon: 4, contributors: 3, colluding: 2, roster: [NODES]}`, "bagaaieragxsux5kmyt4yrytj2fznnsw33ndpe56uflrmsezz34ozmrxwdxiq",
			`strategy: {type: fts-de, weights: evidence}
privacy: {mechanism: aggregate, epsilon: 4, min_contributors: 3, max_colluding: 2, roster: [NODES]}`, "bagaaierawf7h23cpnonzg6iaizb53jjnjdjw2xp7z7ytyorc4bobljkbg6sq"},
		{"designs.steps",
			`designs: {file: t.csv, steps: 1}
strategy: {type: fair, roster: [NODES]}`, "bagaaieractmx6d24gfkjancpndsyt6yqeqvyfuccrogftwscyzfms2qwuhba",
			`designs: {file: t.csv, max_moves: 1}
strategy: {type: fair, roster: [NODES]}`, "bagaaieramebpavybbewsqwpmadbnru63xtoeic7dgkjgbge4wsua746jm6fa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseRest(c.now)
			if err != nil {
				t.Fatal(err)
			}
			if id := got.ID().String(); id != c.id || id == c.idBefore {
				t.Errorf("ID %s, want %s", id, c.id)
			}
			if c.before == c.now {
				return
			}
			_, err = parseRest(c.before)
			if err == nil || !strings.Contains(err.Error(), "accepted: ") && !strings.Contains(err.Error(), "must be one of ") {
				t.Errorf("the file with the old key: error %v, want one that lists the accepted words", err)
			}
		})
	}
}

// TestOtherIDsStay has files without a renamed key, with the IDs from before the renames.
func TestOtherIDsStay(t *testing.T) {
	for _, c := range []struct{ name, rest, id string }{
		{"exact shares", `strategy: {share: exact}`, "bagaaiera7mkcvgi36iqkl5hv2mdsie44eaykejwnkkta7xvgwvczq3eiswsq"},
		{"alone", `strategy: {type: alone}`, "bagaaierasewiey7u5ugthwrmgz6mip5suvkinskkmxwwboiocglyvvod2ctq"},
		{"fts", `strategy: {type: fts}`, "bagaaieraf3rdhj3husxht52sfyorzgyutm7v5vrc35yb6yrnuv53z2jrddjq"},
		{"density", `strategy: {type: density}`, "bagaaieratwlq7nm2fi5xlq64dgaqn4zokw4jybpsqvxwuugmbqd2lh2inwea"},
		{"constrained-gp", `strategy: {type: constrained-gp}`, "bagaaiera33hapamuvhbsoynyw75r2kdfjtuwjz4tosjcbr3w3c4e2u65kxqq"},
		{"feasibility", `constraints: [{name: c, high: 1}]
strategy: {type: density, share: feasibility}`, "bagaaieraakadnnys7km3c4usflpu3wxgjvvlrrznqkgonyy3vlkcibarznjq"},
		{"asynchronous consensus", `strategy: {type: consensus, mode: asynchronous}`, "bagaaieraex4zjrhbxp5rx3dyxvdoogijdtrcpcwu7yvxifaxlovxxmstpp4a"},
		{"shared hyperparameters", `strategy: {type: fts}
surrogate: {hyperparameters: shared}`, "bagaaieragncn6o5f66fc2yqbpf57i27u55oe6ydsvdjzfspzwcvsgss5jc3q"},
		{"rff", `strategy: {type: fts}
surrogate: {type: rff}`, "bagaaierasr3o4v232qj5je4xrmg4be6qhqtj5ae3l56r7o7fopwyzcbxqsya"},
		{"latent", `strategy: {type: ts}
surrogate: {type: shared-latent}`, "bagaaierapqzvtjc4xprwxbhjwiacaahfg6klwlv5wtlifbicdeg2el72mbta"},
		{"local noise", `strategy: {type: fts}
privacy: {mechanism: local, epsilon: 4}`, "bagaaieraxfg6fdulfivfjltexdfbs4sy5se6ehdxu2756a7ac57zdcvqsxka"},
		{"listed designs with a graph", `designs: {file: t.csv}
strategy: {type: alone}`, "bagaaieramiow44etacydrz3zhiikd6ndkuni6lsk73uaxg6avmuzfmebklsa"},
	} {
		got, err := parseRest(c.rest)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if id := got.ID().String(); id != c.id {
			t.Errorf("%s: ID %s, want %s", c.name, id, c.id)
		}
	}
}

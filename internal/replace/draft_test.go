package replace_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
	"github.com/millrace-go/millrace/internal/splice"
)

// randomSplices returns splices of a text of that size.
func randomSplices(r *rand.Rand, size int) (list []change.Splice) {
	for off := r.IntN(4); off <= size; off += r.IntN(6) {
		length := r.IntN(min(3, size-off+1))
		list = append(list, change.Splice{Off: int64(off), Len: int64(length), Text: []byte("xyz"[:r.IntN(4)])})
		off += length
	}
	return list
}

// TestDraftProperty compares drafts that keep their text, and drafts that read it each time, with the result of
// applying one list of splices after the other.
func TestDraftProperty(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	same := 0
	for range fstest.Runs(500, 5_000, 100_000) {
		text := strings.Repeat("abxyz\n", 1+r.IntN(5))[r.IntN(5):]
		want := []byte(text)
		held, err := replace.NewDraft(match.Bytes(text), match.Sizes{})
		if err != nil {
			t.Fatal(err)
		}
		read, err := replace.NewDraft(match.Bytes(text), match.Sizes{Whole: -1})
		if err != nil {
			t.Fatal(err)
		}
		for round := range r.IntN(6) {
			list := randomSplices(r, len(want))
			if round == 4 { // undo everything
				list = []change.Splice{{Len: int64(len(want)), Text: []byte(text)}}
			}
			if want, err = splice.Apply(want, list); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(held.Add(list), read.Add(list)); err != nil {
				t.Fatal(err)
			}
			for _, d := range []*replace.Draft{held, read} {
				data, err := d.Bytes(1 << 20)
				opened, err2 := readAll(d)
				same, err3 := d.Same(t.Context())
				if err := errors.Join(err, err2, err3); err != nil {
					t.Fatal(err)
				}
				if string(data) != string(want) || opened != string(want) || d.Size() != int64(len(want)) || same != (text == string(want)) {
					t.Fatalf("seed %d: got %q, read %q, %d bytes, same %v; want %q", seed, data, opened, d.Size(), same, want)
				}
			}
		}
		if text == string(want) {
			same++
		}
		for _, d := range []*replace.Draft{held, read} {
			list, err := d.Splices()
			if err != nil {
				t.Fatal(err)
			}
			got, err := splice.Apply([]byte(text), list)
			if diff := gocmp.Diff(string(want), string(got)); diff != "" || err != nil {
				t.Fatalf("seed %d: %v (-want +got):\n%s", seed, err, diff)
			}
		}
	}
	if same == 0 {
		t.Error("no draft was as the text before")
	}
}

func readAll(c match.Content) (string, error) {
	r, err := c.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), err
}

// TestRules compares the results of rules on texts in memory with those on the same texts read window by window.
func TestRules(t *testing.T) {
	t.Parallel()
	type edit struct{ old, text string }
	for name, test := range map[string]struct {
		edits        []edit
		simultaneous bool
		matches      int64
		want         string
		places       int
		err          string
	}{
		"one":                 {edits: []edit{{"a", "b"}}, want: "b b\nbb b\n", places: 3},
		"one after the other": {edits: []edit{{"a", "b"}, {"bb", "a"}}, want: "b b\na b\n", places: 4},
		"undone":              {edits: []edit{{"a b", "x"}, {"x", "a b"}}, want: "a b\nab a\n"},
		"swapped":             {edits: []edit{{"a", "b"}, {"b", "a"}}, simultaneous: true, want: "b a\nba b\n", places: 5},
		"overlapping":         {edits: []edit{{"ab", "x"}, {"b a", "y"}}, simultaneous: true, err: "edits 0 and 1 overlap in line 2"},
		"too many":            {edits: []edit{{"a", "b"}, {"b", "a"}}, matches: 4, err: "too many"},
		"nothing":             {edits: []edit{{"c", "d"}}, want: "a b\nab a\n"},
	} {
		for _, sizes := range []match.Sizes{{}, {Whole: -1, Window: 2}} {
			const text = "a b\nab a\n"
			rules := replace.Rules{Simultaneous: test.simultaneous, Sizes: sizes}
			for i, e := range test.edits {
				p, err := match.Compile(e.old, match.Literal, match.Flags{})
				if err != nil {
					t.Fatal(err)
				}
				by := []change.Origin{{Step: "s", Edit: i}}
				rules.List = append(rules.List, &replace.Rule{Pattern: p, Template: match.Text(e.text), By: by})
			}
			left := replace.NewBudget(replace.Limits{
				Matches: cmp.Or(test.matches, 100), Text: 1 << 20, Stage: func(int64) error { return nil },
				TooMany: errors.New("too many"), TooMuch: errors.New("too much"),
			})
			list, places, err := rules.Splices(context.Background(), match.Bytes(text), left)
			if err != nil || test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) || test.err == "" {
					t.Errorf("%s, %+v: error %v, want %q", name, sizes, err, test.err)
				}
				continue
			}
			got, err := splice.Apply([]byte(text), list)
			if string(got) != test.want || places != test.places || err != nil {
				t.Errorf("%s, %+v: %d places, %q, %v; want %d, %q", name, sizes, places, got, err, test.places, test.want)
			}
		}
	}
}

// TestLaps: matches of a literal text overlap only from another character on, and a line end is one character.
func TestLaps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		old, text string
		want      bool
	}{
		{"aa", "aaa", true},
		{"aa", "aa aa", false},
		{"\nx\n", "\r\nx\r\n", false},
		{"\nx\n", "\r\nx\r\nx\r\n", true},
		{"\nx\n", "\nx\nx\n", true},
	} {
		p, err := match.Compile(test.old, match.Literal, match.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		rules := replace.Rules{Laps: true, List: []*replace.Rule{{Pattern: p, Template: match.Text("y")}}}
		left := replace.NewBudget(replace.Limits{Matches: 100, Text: 100, Stage: func(int64) error { return nil }})
		_, _, err = rules.Splices(t.Context(), match.Bytes(test.text), left)
		if got := rules.List[0].Laps.Load(); got != test.want || err != nil {
			t.Errorf("%q in %q: %t, %v", test.old, test.text, got, err)
		}
	}
}

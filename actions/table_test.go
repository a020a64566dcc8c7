package actions_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestLongest compares the mode "longest" with a scan from left to right that replaces the longest text at each place.
func TestLongest(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(fstest.Seed(t), 3))
	word := func(most int) string {
		b := make([]byte, 1+rnd.IntN(most))
		for i := range b {
			b[i] = "ab.\n"[rnd.IntN(4)]
		}
		return string(b)
	}
	for range fstest.Runs(300, 5000, 100_000) {
		table := make(map[string]string)
		for range 1 + rnd.IntN(5) {
			table[word(4)] = word(3)
		}
		var edits []actions.TextEdit
		for old, becomes := range table {
			edits = append(edits, actions.TextEdit{OldText: old, NewText: becomes})
		}
		text := word(40)
		base := bases["memory"](t)
		write(t, base, files{"f": text})
		b := newBench(t, base, map[string]string{"f": text})
		b.must("s", actions.MultiEdit{Edits: edits, Mode: "longest"}, []string{"f"})
		b.wantTree(map[string]string{"f": scanned(text, table)})
	}
}

// TestLongestFolds: ignore_case means all spellings that the search finds, not only those with the same small letters.
func TestLongestFolds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ old, text, want string }{
		{"οδος", "οδος ΟΔΟΣ οδοσ", "x x x"},
		{"ΟΔΟΣ", "οδος ΟΔΟΣ οδοσ", "x x x"},
		{"mask", "MASK ma\u017fk mas\u212a", "x x x"},
		{"\u212b", "\u00e5 \u00c5 a", "x x a"},
		{"soft\u00adly", "softly SOFT\u00adLY", "softly x"},
	} {
		b := inMemory(t, files{"f": test.text})
		edits := []actions.TextEdit{{OldText: test.old, NewText: "x"}, {OldText: "zz", NewText: "y"}}
		b.must("s", actions.MultiEdit{Edits: edits, Mode: "longest", IgnoreCase: true}, []string{"f"})
		b.warnings = nil
		b.wantTree(files{"f": test.want})
	}
}

// scanned replaces from left to right, the longest text at each place.
func scanned(text string, table map[string]string) string {
	var b strings.Builder
	for len(text) > 0 {
		longest := ""
		for old := range table {
			if len(old) > len(longest) && strings.HasPrefix(text, old) {
				longest = old
			}
		}
		if longest == "" {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		b.WriteString(table[longest])
		text = text[len(longest):]
	}
	return b.String()
}

// TestCaseVariants: the words of a name begin at capital letters and after characters that are neither letter nor
// digit.
func TestCaseVariants(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"foo->bar":            {"foo->bar", "Foo->Bar", "FOO->BAR"},
		"HTTPServer->WebHost": {"HTTPServer->WebHost", "httpServer->webHost", "HttpServer->WebHost", "http_server->web_host", "HTTP-SERVER->WEB-HOST"},
		"user_id->accountKey": {"user_id->account_key", "userId->accountKey", "UserId->AccountKey", "user-id->account-key", "User id->Account key"},
		"...->x":              {"...->x"},
		"user->account_owner": {"user->account_owner", "User->AccountOwner", "USER->ACCOUNT_OWNER"},
		"user->account-owner": {"user->account-owner", "User->AccountOwner"},
		"USER->ACCOUNT OWNER": {"USER->ACCOUNT OWNER", "user->accountOwner"},
		"User->Account owner": {"User->Account owner", "user->accountOwner"},
		"user->account.owner": {"user->account.owner", "User->AccountOwner"},
		"user->AccountOwner":  {"user->accountOwner", "User->AccountOwner"},
		"USER->owner":         {"USER->OWNER", "user->owner"},
	} {
		old, becomes, _ := strings.Cut(name, "->")
		var got []string
		for _, e := range actions.CaseVariants(old, becomes) {
			got = append(got, e.OldText+"->"+e.NewText)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no %s in %q", name, w, got)
			}
		}
	}
}

package sed_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/sed"
)

// maker makes scripts and inputs.
type maker struct {
	*rand.Rand
	basic bool
	ascii bool // make only ASCII
}

func (m *maker) pick(s ...string) string {
	for {
		if one := s[m.IntN(len(s))]; !m.ascii || !strings.ContainsFunc(one, func(r rune) bool { return r >= 0x80 }) {
			return one
		}
	}
}

// op returns an operator, with a backslash in basic syntax.
func (m *maker) op(s string) string {
	if m.basic {
		return `\` + s
	}
	return s
}

func (m *maker) atom() string {
	if m.IntN(3) > 0 {
		return m.pick("a", "b", "c", "é", ".", "x", "B")
	}
	return m.pick("[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[[:upper:]x]", `[^[:space:]]`, `\w`, `\W`, `\s`, `\S`, "^", "$", `\<`, `\>`,
		`\b`, `\B`, "\\`", `\'`, `\n`, `\t`, `\.`, `\*`, `\x41`, `[]a]`, `[^]b]`, `[\n]`, "-", " ", "1", `\d098`, `\o141`, "[[.a.]b]", "[[=c=]]",
		`\x2e`, `\-`, `\%`, "[/]", "漢", "[éx]", "*", "+", "?", "{", "}")
}

func (m *maker) pattern(depth int) string {
	switch n := m.IntN(10); {
	case n < 4 || depth <= 0:
		return m.atom()
	case n < 6:
		return m.op("(") + m.pattern(depth-1) + m.op(")")
	case n < 7:
		return m.op("(") + m.pattern(depth-1) + m.op("|") + m.pattern(depth-1) + m.op(")")
	case n < 9:
		x := m.pattern(depth - 1)
		switch m.IntN(6) {
		case 0:
			return x + m.op("+")
		case 1:
			return x + m.op("?")
		case 2:
			return x + m.op("{") + m.pick("", "0", "1", "2") + "," + m.pick("", "1", "2", "3") + m.op("}")
		}
		return x + "*"
	}
	return m.pattern(depth-1) + m.pattern(depth-1)
}

func (m *maker) replacement() string {
	var b strings.Builder
	for range m.IntN(5) {
		b.WriteString(m.pick("&", `\1`, `\2`, `\0`, `\n`, `\t`, "x", "é", "Ab", `\&`, `\U`, `\L`, `\u`, `\l`, `\E`, `\x41`, `\x26`, `\d092`, "\\\n", `\cA`, "-", `\-`, "[", "ǆ"))
	}
	return b.String()
}

func (m *maker) regexp() string {
	if m.IntN(12) == 0 {
		return ""
	}
	if m.ascii {
		return m.pattern(3)
	}
	// Without a class, GNU sed compares bytes, so an empty match is also found within a character.
	return m.pattern(3) + m.op("|") + `[[:cntrl:]]X`
}

func (m *maker) address() string {
	if m.IntN(3) == 0 {
		return ""
	}
	one := func() string {
		return m.pick("1", "2", "3", "$", "/"+m.regexp()+"/", "/"+m.regexp()+"/I", `\,`+m.regexp()+`,`, "1~2", "0~3", "2~0", "/a/")
	}
	a := one()
	if m.IntN(2) == 0 {
		a += m.pick(",", ", ", " ,") + m.pick(one(), "+1", "+0", "~2", "~0", "~3", "4")
	}
	if m.IntN(10) == 0 {
		a = "0," + one()
	}
	return a + m.pick("", "", "", "!", "! ", " ")
}

func (m *maker) command(depth int) string {
	a := m.address()
	switch n := m.IntN(13); {
	case n < 8:
		d := m.pick("/", "/", "/", ",", "|", "+", "a", "1", ".", "&")
		flags := m.pick("", "g", "g", "2", "2g", "3", "p", "gp", "i", "I", "gI", "m", "Mg", "gM", "1p")
		return a + "s" + d + m.regexp() + d + m.replacement() + d + flags
	case n < 9:
		return a + m.pick("y/abc/xyz/", "y/é/ab/", `y/aé/éa/`, `y/a\n/\nb/`, "y,abc,BCA,", `y/\/a/b\t/`)
	case n < 10:
		return a + m.pick("p", "d", "p", "#x", "n", "N", "n", "N", "q", "Q")
	case n < 11:
		return a + m.pick("a", "i", "c") + m.pick(" ", "", "\\\n", "\\") + m.pick("x", "é\\ty", "a\\\n b", "  x ", "n\\xC3", "\\\\n") + "\n"
	case depth > 0:
		var list []string
		for range m.IntN(3) {
			list = append(list, m.command(depth-1))
		}
		return a + "{" + strings.Join(list, m.pick(";", "\n")) + m.pick("", ";", "\n") + "}"
	}
	return a + "p"
}

func (m *maker) input() string {
	var b strings.Builder
	for range m.IntN(5) {
		for range m.IntN(9) {
			b.WriteString(m.pick("a", "a", "b", "b", "c", "é", "A", "B", "É", "-", " ", "x", ".", "1", "漢", "\t", "\r", "\x00", "\xe9", "\xff", "\xc3", "ǆ", "*", "+"))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), m.pick("\n", "x", "x"))
}

func TestRandomAgainstSed(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	const batch = 12
	scripts := fstest.Runs(60, 400, 9000)
	var pairs, refused, purpose, hung int
	first := fstest.Seed(t)
	var seed uint64
	var script []string
	var opts sed.Options
	var compare func(in []string)
	compare = func(in []string) {
		got, ok, unsupported := ours(t, script, opts, in)
		if unsupported {
			purpose++
			return
		}
		want, wantOK, err := o.run(t, script, opts, in)
		switch {
		case err != nil:
			hung++
			return
		case (ok != wantOK || !slices.Equal(got, want)) && len(in) > 1:
			// In sed the meaning of an empty pattern carries over to the next file. So run each file separately.
			for one := range slices.Chunk(in, 1) {
				compare(one)
			}
			return
		case ok != wantOK:
			_, err := sed.Parse(script, opts)
			t.Errorf("seed %d: %q %+v: taken %v, by sed %v (%v)", seed, script, opts, ok, wantOK, err)
		case ok && got[0] != want[0]:
			t.Errorf("seed %d: %q %+v on %q:\n got %q\nwant %q", seed, script, opts, in[0], got[0], want[0])
		}
		pairs += len(in)
		if !wantOK {
			refused++
		}
	}
	for n := range scripts {
		seed = first + uint64(n)
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 7)), basic: n%2 == 0, ascii: n%4 < 2}
		opts = sed.Options{Quiet: m.IntN(4) == 0}
		if m.basic {
			opts.Syntax = sed.BRE
		}
		script = nil
		for range 1 + m.IntN(2) {
			list := make([]string, 1+m.IntN(2))
			for i := range list {
				list[i] = m.command(2)
			}
			script = append(script, strings.Join(list, m.pick(";", "\n", " ; ")))
		}
		inputs := make([]string, batch)
		for i := range inputs {
			inputs[i] = m.input()
		}
		compare(inputs)
	}
	fstest.Countf(t, "%d pairs of script and input, %d scripts refused by both, %d only here, on %d sed did not end", pairs, refused, purpose, hung)
}

package sed

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"
)

type parser struct {
	scripts []string
	options Options
	text    string // the script read
	script  int
	at      int
	ended   bool // next has returned eof
	err     *Error

	size   int // of the patterns so far, in nodes
	out    *Script
	blocks []int // the { that are open

	scan  bool // patterns are not compiled
	place Place
	rest  []string // the parts of the script that are still to be read
	value func(Place) string
}

// Parse reads scripts, as sed reads several -e options. The error is an [*Error].
func Parse(scripts []string, o Options) (*Script, error) {
	o.MaxPattern = cmp.Or(o.MaxPattern, DefaultMaxPattern)
	p := &parser{scripts: scripts, options: o, out: &Script{
		quiet: o.Quiet, maxLine: cmp.Or(o.MaxLine, DefaultMaxLine), scripts: scripts, long: make(chan struct{}, 1),
	}}
	length := 0
	for i, text := range scripts {
		if length += len(text); length > MaxScript {
			tooLong := "script is too long (max " + strconv.Itoa(MaxScript) + " bytes)"
			return nil, place{i, 0}.at(scripts, tooLong, "use several steps")
		}
	}
	for p.script = -1; p.nextScript(); {
		if p.commands(); p.err != nil {
			return nil, p.err
		}
	}
	if n := len(p.blocks); n > 0 {
		return nil, p.out.commands[p.blocks[n-1]].place.at(scripts, "unmatched `{'", "")
	}
	p.out.size = p.size
	p.out.share()
	p.out.guards = p.out.guarded()
	return p.out, nil
}

// nextScript moves to the next script. It reports whether there is one.
func (p *parser) nextScript() bool {
	if p.script+1 >= len(p.scripts) {
		return false
	}
	p.script++
	p.text, p.at, p.ended = p.scripts[p.script], 0, false
	return true
}

// here returns the place of the last byte read.
func (p *parser) here() place {
	at := p.at
	if !p.ended {
		at--
	}
	return place{p.script, max(at, 0)}
}

// fail records the first error, which ends the script.
func (p *parser) fail(text string) {
	if p.err == nil {
		p.err = p.here().at(p.scripts, text, "")
	}
}

// refuse is fail for something that GNU sed accepts, with the reason.
func (p *parser) refuse(text, why string) {
	if p.err == nil {
		p.fail(text)
		p.err.Hint, p.err.Unsupported, p.err.Window = why, true, why == noWindow
	}
}

func (p *parser) commands() {
	for {
		p.ended = false
		c := p.next()
		if c == eof {
			return
		}
		if strings.IndexByte("; \t\n\v\f\r", byte(c)) < 0 {
			p.command(c)
		}
	}
}

// command reads one command with its addresses; c is its first byte.
func (p *parser) command(c int) {
	cmd := command{place: p.here()}
	c = p.addresses(&cmd, c)
	if c == '!' {
		cmd.not = true
		if c = p.nonblank(); c == '!' {
			p.fail("multiple `!'s")
		}
	}
	cmd.name = byte(c)
	switch c {
	case eof:
		p.fail("missing command")
	case '#':
		if cmd.from.kind != addrNone {
			p.fail("comments don't accept any addresses")
		}
		p.comment()
		return
	case '{':
		p.blocks = append(p.blocks, len(p.out.commands))
	case '}':
		last := len(p.blocks) - 1
		switch {
		case last < 0 && p.scan:
			p.endOfCommand() // an earlier script may have the {
			return
		case last < 0:
			p.fail("unexpected `}'")
			return
		}
		if cmd.from.kind != addrNone {
			p.fail("} doesn't want any addresses")
		}
		p.endOfCommand()
		p.out.commands[p.blocks[last]].end = len(p.out.commands)
		p.blocks = p.blocks[:last]
	case 'd', 'p', 'n', 'N':
		p.endOfCommand()
	case 'q', 'Q':
		p.quit(&cmd)
	case 'a', 'i', 'c':
		p.textLines(&cmd)
	case 's':
		p.substitute(&cmd)
	case 'y':
		p.transliterate(&cmd)
	default:
		p.unknown(c)
	}
	if len(p.out.commands) == MaxCommands {
		p.fail("too many commands (max " + strconv.Itoa(MaxCommands) + ")")
	}
	p.out.commands = append(p.out.commands, cmd)
}

func (p *parser) unknown(c int) {
	if why := refused(byte(c)); why != "" {
		p.refuse("the command `"+string(rune(c))+"' is not supported", why)
		return
	}
	name := string(rune(c))
	if c >= 0x80 && p.err == nil {
		_, n := utf8.DecodeRuneInString(p.text[p.at-1:])
		name = p.text[p.at-1 : p.at-1+n]
	}
	p.fail("unknown command: `" + name + "'")
}

// comment skips to the end of the line. A first script that begins with #n is Quiet, as in GNU sed, whatever comes
// after it.
func (p *parser) comment() {
	start := p.at
	for c := p.next(); c != eof && c != '\n'; c = p.next() {
	}
	if p.script == 0 && start == 1 && strings.HasPrefix(p.text, "#n") {
		p.out.quiet = true
	}
}

// addresses reads the addresses of a command that begins with c, and returns the byte after them.
func (p *parser) addresses(cmd *command, c int) int {
	if !p.address(&cmd.from, c) {
		return c
	}
	if k := cmd.from.kind; k == addrPlus || k == addrTo {
		p.fail("invalid usage of +N or ~N as first address")
	}
	c = p.nonblank()
	if c == ',' {
		if !p.address(&cmd.to, p.nonblank()) {
			p.fail("unexpected `,'")
		}
		c = p.nonblank()
	}
	if cmd.from.kind == addrLine && cmd.from.n == 0 && cmd.to.kind != addrRegexp {
		p.fail("invalid usage of line address 0")
	}
	return c
}

// address reads an address that begins with c. It returns false if c does not begin an address.
func (p *parser) address(a *address, c int) bool {
	switch {
	case c == '/' || c == '\\':
		if c == '\\' {
			c = p.delimiter()
		}
		text := p.until(c, true, "unterminated address regex")
		var icase, lines bool
		for c = p.nonblank(); c == 'I' || c == 'M'; c = p.nonblank() {
			icase, lines = icase || c == 'I', lines || c == 'M'
		}
		p.back(c)
		a.kind = addrRegexp
		a.re = p.compile(text, icase, lines, 0)
	case isDigit(c):
		a.kind, a.n = addrLine, p.integer(c)
		if c = p.nonblank(); c != '~' {
			p.back(c)
		} else if a.step = p.integer(p.nonblank()); a.step > 0 {
			a.kind = addrStep
		}
	case c == '+' || c == '~':
		a.kind = addrPlus
		if c == '~' {
			a.kind = addrTo
		}
		if a.step = p.integer(p.nonblank()); a.step == 0 {
			a.kind = addrNext
		}
	case c == '$':
		a.kind = addrLast
	default:
		return false
	}
	return true
}

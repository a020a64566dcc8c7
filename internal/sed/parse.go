package sed

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads scripts.
type parser struct {
	scripts []string
	options Options
	text    string // the script read
	script  int
	at      int
	ended   bool // next has returned eof

	size   int // of the patterns so far, in nodes
	out    *Script
	blocks []int // the { that are open
}

// Parse reads scripts as sed reads several -e. The error is an [*Error].
func Parse(scripts []string, o Options) (*Script, error) {
	if o.MaxPattern == 0 {
		o.MaxPattern = DefaultMaxPattern
	}
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	p := &parser{scripts: scripts, options: o, out: &Script{quiet: o.Quiet, maxLine: o.MaxLine, scripts: scripts}}
	length := 0
	for i, text := range scripts {
		if length += len(text); length > MaxScript {
			return nil, place{i, 0}.at(scripts, "script is too long (max "+strconv.Itoa(MaxScript)+" bytes)", "use several steps")
		}
		p.text, p.script, p.at = text, i, 0
		if err := p.commands(); err != nil {
			return nil, err
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

// here is the place of the last byte read.
func (p *parser) here() place {
	at := p.at
	if !p.ended {
		at--
	}
	return place{p.script, max(at, 0)}
}

func (p *parser) fail(text string) error { return p.here().at(p.scripts, text, "") }

func (p *parser) commands() error {
	for {
		p.ended = false
		c := p.next()
		switch {
		case c == eof:
			return nil
		case c == ';' || strings.IndexByte(" \t\n\v\f\r", byte(c)) >= 0:
			continue
		}
		if err := p.command(c); err != nil {
			return err
		}
	}
}

// command reads one command with its addresses; c is its first byte.
func (p *parser) command(c int) error {
	cmd := command{place: p.here()}
	c, err := p.addresses(&cmd, c)
	if err != nil {
		return err
	}
	if c == '!' {
		cmd.not = true
		if c = p.nonblank(); c == '!' {
			return p.fail("multiple `!'s")
		}
	}
	if c == eof {
		return p.fail("missing command")
	}
	cmd.name = byte(c)
	switch c {
	case '#':
		if cmd.from.kind != addrNone {
			return p.fail("comments don't accept any addresses")
		}
		p.comment()
		return nil
	case '{':
		p.blocks = append(p.blocks, len(p.out.commands))
	case '}':
		if len(p.blocks) == 0 {
			return p.fail("unexpected `}'")
		}
		if cmd.from.kind != addrNone {
			return p.fail("} doesn't want any addresses")
		}
		if err := p.endOfCommand(); err != nil {
			return err
		}
		last := len(p.blocks) - 1
		p.out.commands[p.blocks[last]].end = len(p.out.commands)
		p.blocks = p.blocks[:last]
	case 'd', 'p':
		if err := p.endOfCommand(); err != nil {
			return err
		}
	case 's':
		if err := p.substitute(&cmd); err != nil {
			return err
		}
	case 'y':
		if err := p.transliterate(&cmd); err != nil {
			return err
		}
	default:
		return p.unknown(c)
	}
	if len(p.out.commands) == MaxCommands {
		return p.fail("too many commands (max " + strconv.Itoa(MaxCommands) + ")")
	}
	p.out.commands = append(p.out.commands, cmd)
	return nil
}

func (p *parser) unknown(c int) error {
	if why := refused(byte(c)); why != "" {
		e := p.here().at(p.scripts, "the command `"+string(rune(c))+"' is not supported", why)
		e.Unsupported = true
		return e
	}
	name := string(rune(c))
	if c >= 0x80 {
		_, n := utf8.DecodeRuneInString(p.text[p.at-1:])
		name = p.text[p.at-1 : p.at-1+n]
	}
	return p.fail("unknown command: `" + name + "'")
}

// comment skips to the end of the line. A first script that begins with #n is Quiet, whatever follows, as in GNU sed.
func (p *parser) comment() {
	start := p.at
	for c := p.next(); c != eof && c != '\n'; c = p.next() {
	}
	if p.script == 0 && start == 1 && strings.HasPrefix(p.text, "#n") {
		p.out.quiet = true
	}
}

// addresses reads the addresses of a command, of which c is the first byte, and returns the byte after them.
func (p *parser) addresses(cmd *command, c int) (int, error) {
	ok, err := p.address(&cmd.from, c)
	if err != nil || !ok {
		return c, err
	}
	if k := cmd.from.kind; k == addrPlus || k == addrTo {
		return c, p.fail("invalid usage of +N or ~N as first address")
	}
	c = p.nonblank()
	if c == ',' {
		if ok, err = p.address(&cmd.to, p.nonblank()); err != nil {
			return c, err
		} else if !ok {
			return c, p.fail("unexpected `,'")
		}
		c = p.nonblank()
	}
	if cmd.from.kind == addrLine && cmd.from.n == 0 && cmd.to.kind != addrRegexp {
		return c, p.fail("invalid usage of line address 0")
	}
	return c, nil
}

// address reads an address that begins with c. It is false where c begins none.
func (p *parser) address(a *address, c int) (bool, error) {
	switch {
	case c == '/' || c == '\\':
		if c == '\\' {
			var err error
			if c, err = p.delimiter(); err != nil {
				return false, err
			}
		}
		text, ok := p.until(c, true)
		if !ok {
			return false, p.fail("unterminated address regex")
		}
		var icase, lines bool
		for {
			switch c = p.nonblank(); c {
			case 'I':
				icase = true
				continue
			case 'M':
				lines = true
				continue
			}
			break
		}
		p.back(c)
		var err error
		a.kind = addrRegexp
		a.re, err = p.compile(text, icase, lines, 0)
		return true, err
	case isDigit(c):
		a.kind, a.n = addrLine, p.integer(c)
		if c = p.nonblank(); c != '~' {
			p.back(c)
			return true, nil
		}
		if a.step = p.integer(p.nonblank()); a.step > 0 {
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
		return false, nil
	}
	return true, nil
}

package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
)

// statWidth is the width of a list of files, in columns.
const statWidth = 80

// fileStat is one line of a list of files.
type fileStat struct {
	name         string
	note         string // instead of numbers
	added, taken int
}

// Stat writes the files that a plan changes, each with the numbers of added and removed lines, in the form of git's
// --stat, and their sum. Names that are too long are cut at the beginning.
func Stat(w io.Writer, plan *millrace.Plan, s Style) error {
	changes, err := chosen(plan, nil)
	if err != nil {
		return err
	}
	var list []fileStat
	widest, most, added, taken := 0, 0, 0, 0
	for len(changes) > 0 {
		n := min(256, len(changes))
		stats, err := s.statsOf(plan, changes[:n])
		if err != nil {
			return err
		}
		for _, f := range stats {
			widest, most = max(widest, Width(f.name)), max(most, f.added+f.taken)
			added, taken = added+f.added, taken+f.taken
		}
		list, changes = append(list, stats...), changes[n:]
	}
	numbers := max(len(fmt.Sprint(most)), 3)
	widest = min(widest, statWidth-numbers-20)
	out := bufio.NewWriter(w)
	for _, f := range list {
		name := shorten(f.name, widest)
		fmt.Fprintf(out, " %s%s | ", name, strings.Repeat(" ", max(0, widest-Width(name))))
		if f.note != "" {
			fmt.Fprintf(out, "%*s\n", numbers, f.note)
			continue
		}
		plus, minus := scaled(f.added, f.taken, most, statWidth-widest-numbers-5)
		bar := s.Paint(Green, strings.Repeat("+", plus)) + s.Paint(Red, strings.Repeat("-", minus))
		fmt.Fprintf(out, "%*d%s\n", numbers, f.added+f.taken, strings.TrimRight(" "+bar, " "))
	}
	fmt.Fprintf(out, " %s changed, %s(+), %s(-)\n", count(len(list), "file"), count(added, "insertion"),
		count(taken, "deletion"))
	return out.Flush()
}

// statsOf returns the lines for some files.
func (s Style) statsOf(plan *millrace.Plan, changes []change.Change) ([]fileStat, error) {
	names := make([]string, len(changes))
	index := make(map[string]change.Change, len(changes))
	for i, c := range changes {
		names[i], index[c.Path] = c.Path, c
	}
	files, err := plan.Files(names...)
	if err != nil {
		return nil, err
	}
	var stats []fileStat
	for _, f := range files {
		c, ok := index[f.Path]
		if !ok { // below a directory that became a file
			continue
		}
		stat := fileStat{name: s.Text(f.Path)}
		if f.From != "" {
			stat.name = s.Text(f.From + " => " + f.Path)
		}
		for _, h := range f.Hunks {
			for _, l := range h.Lines() {
				switch l.Op {
				case '+':
					stat.added++
				case '-':
					stat.taken++
				}
			}
		}
		switch {
		case f.Binary:
			stat.note = "Bin"
		case len(f.Hunks) == 0 && c.Old.Kind == change.File && c.New.Kind == change.File && c.Old.Mode != c.New.Mode:
			stat.note = fmt.Sprintf("mode %04o => %04o", c.Old.Mode, c.New.Mode)
		}
		stats = append(stats, stat)
	}
	return stats, nil
}

// scaled returns the lengths of the bars of a file if the longest may have that many columns. A count above zero is
// visible.
func scaled(added, taken, most, columns int) (plus, minus int) {
	if most <= columns {
		return added, taken
	}
	scale := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(1, n*(columns-1)/most)
	}
	return scale(added), scale(taken)
}

// count returns a number with its word, in the plural unless the number is one.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

package web

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/internal/page"
)

// mostClosed limits the directories of other pages that one directory of the tree lists.
const mostClosed = 50

// tree is the tree of the files of a plan, shown next to each page. It lists the files of the page. A directory without
// a file on the page is one line, however many files it has. The files of other pages in a directory are one line too.
type tree struct {
	*page.Page
	v        *view
	from, to int // the numbers of the files on the page
}

// tree writes the tree for a page with the files from the number from up to the number to.
func (v *view) tree(p *page.Page, from, to int) {
	if len(v.files) < 2 {
		return
	}
	fmt.Fprintf(p, "<nav class=\"tree\" aria-label=\"Files\">\n<details open=\"open\"><summary>%s</summary>\n",
		count(len(v.files)))
	tree{p, v, from, to}.entries(0, len(v.files), 0)
	p.WriteString("</details>\n</nav>\n")
}

// count returns a number of files in words.
func count(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// entries writes the entries of a directory: the files from the number from up to the number to. The first cut bytes of
// their paths are the path of the directory.
func (t tree) entries(from, to, cut int) {
	t.WriteString("<ul>\n")
	closed, elsewhere, first := 0, 0, 0 // elsewhere counts files of other pages since first
	rest := func() {
		if elsewhere > 0 {
			t.jump(first, "", "… "+count(elsewhere))
		}
		elsewhere = 0
	}
	for n := from; n < to; {
		end, name := t.entry(n, to, cut)
		onPage := n < t.to && end > t.from
		switch {
		case onPage && name == "":
			rest()
			t.file(n, cut)
		case onPage:
			rest()
			fmt.Fprintf(t, "<li><details%s><summary>", openIf(end-n <= filesPerPage))
			t.Name(name)
			fmt.Fprintf(t, " <small>%s</small></summary>\n", count(end-n))
			t.entries(n, end, cut+len(name))
			t.WriteString("</details></li>\n")
		case name != "" && closed < mostClosed:
			rest()
			closed++
			t.jump(n, name, " "+count(end-n))
		default:
			if elsewhere == 0 {
				first = n
			}
			elsewhere += end - n
		}
		n = end
	}
	rest()
	t.WriteString("</ul>\n")
}

// openIf returns the attribute of an open part.
func openIf(open bool) string {
	if open {
		return ` open="open"`
	}
	return ""
}

// entry returns the end of the entry of a directory that begins with a file, and the name of the entry with all
// directories that hold nothing else, such as "src/store/". The name of a file is "".
func (t tree) entry(n, to, cut int) (end int, name string) {
	path := t.v.files[n].Path
	slash := strings.IndexByte(path[cut:], '/')
	if slash < 0 {
		return n + 1, ""
	}
	dir := path[:cut+slash+1]
	for end = n + 1; end < to && strings.HasPrefix(t.v.files[end].Path, dir); end++ {
	}
	last, common := t.v.files[end-1].Path, path[:strings.LastIndexByte(path, '/')+1]
	for !strings.HasPrefix(last, common) {
		common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
	}
	return end, common[cut:]
}

// file writes a file of the page.
func (t tree) file(n, cut int) {
	c := t.v.files[n]
	kind := string(t.v.kind(c))
	fmt.Fprintf(t, "<li class=\"%s\"><a href=\"#f%d\">", kind, n)
	t.Name(c.Path[cut:])
	t.WriteString("</a> <small>" + kind + "</small> <em class=\"state\">" + t.v.state(n) + "</em></li>\n")
}

// state describes the rejected parts of a file.
func (v *view) state(n int) string {
	switch c := v.left[n]; {
	case c.All, len(c.Hunks) > 0 && len(c.Hunks) == v.hunks[n] && !review.Renames(v.files[n]):
		return "left"
	case len(c.Hunks) > 0:
		return "partly left"
	}
	return ""
}

// jump writes the way to a file of another page: a button that keeps the choices of this page, or a link where there
// are none.
func (t tree) jump(n int, name, text string) {
	t.WriteString("<li>")
	end := "</a>"
	if t.v.whole {
		t.WriteString(`<a href="` + t.v.at + pageOf(n/filesPerPage) + fmt.Sprintf("#f%d\">", n))
	} else {
		fmt.Fprintf(t, `<button name="do" value="show:%d">`, n)
		end = "</button>"
	}
	if name != "" {
		t.Name(name)
	}
	t.WriteString(text + end + "</li>\n")
}

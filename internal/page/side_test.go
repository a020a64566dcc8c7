package page_test

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/page"
)

// cell is a cell of a table, with its class.
type cell struct{ class, text string }

// cellsOf reads the rows of a page that have four cells.
func cellsOf(t rapid.TB, text string) (rows [][]cell) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<body>" + text + "</body>"))
	var row []cell
	within := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, text)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "tr":
				row = nil
			case "td":
				within = true
				row = append(row, cell{})
				for _, a := range token.Attr {
					row[len(row)-1].class += a.Value
				}
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "td":
				within = false
			case "tr":
				if len(row) == 4 {
					rows = append(rows, row)
				}
			}
		case xml.CharData:
			if within {
				row[len(row)-1].text += string(token)
			}
		}
	}
}

// In the side-by-side view, the left column has the lines of the old text and the right column the lines of the new
// text. An unchanged line is in both columns of the same row.
func TestSide(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "one", "<i>one</i>", "", "one two"}), 0, 12)
		ends := rapid.SampledFrom([]string{"", "\n"})
		old := strings.Join(lines.Draw(t, "old"), "\n") + ends.Draw(t, "old end")
		fresh := strings.Join(lines.Draw(t, "new"), "\n") + ends.Draw(t, "new end")
		fsys := afero.NewMemMapFs()
		if err := afero.WriteFile(fsys, "f", []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
		p := millrace.New("side").Step("s", actions.Create{Path: "f", Content: fresh, Overwrite: true}).MustBuild()
		plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		defer plan.Close()
		files, err := plan.Files()
		if err != nil {
			t.Fatal(err)
		}
		var left, right []cell
		for _, f := range files {
			for _, h := range f.Hunks {
				lines := h.Lines()
				for at, l := range lines {
					note := func(side []cell) { side[len(side)-1].text += l.Text }
					switch l.Op {
					case ' ':
						left = append(left, cell{strconv.Itoa(l.Old), l.Text})
						right = append(right, cell{strconv.Itoa(l.New), l.Text})
					case '-':
						left = append(left, cell{strconv.Itoa(l.Old) + "old", l.Text})
					case '+':
						right = append(right, cell{strconv.Itoa(l.New) + "new", l.Text})
					case '\\':
						if lines[at-1].Op != '+' {
							note(left)
						}
						if lines[at-1].Op != '-' {
							note(right)
						}
					}
				}
			}
		}
		var hasLeft, hasRight []cell
		for _, row := range cellsOf(t, sideOf(t, plan)) {
			if row[0].text != "" {
				hasLeft = append(hasLeft, cell{row[0].text + row[1].class, row[1].text})
			}
			if row[2].text != "" {
				hasRight = append(hasRight, cell{row[2].text + row[3].class, row[3].text})
			}
			if (row[1].class == "") != (row[3].class == "") {
				t.Errorf("an unchanged line has a changed line beside it: %v", row)
			}
			if row[1].class == "none" && row[3].class == "none" {
				t.Errorf("a row is empty")
			}
			seen++
		}
		equal := cmp.AllowUnexported(cell{})
		if d := cmp.Diff(left, hasLeft, equal); d != "" {
			t.Errorf("left (-plan +page):\n%s", d)
		}
		if d := cmp.Diff(right, hasRight, equal); d != "" {
			t.Errorf("right (-plan +page):\n%s", d)
		}
	})
	if seen == 0 {
		t.Error("no row was seen")
	}
}

// sideOf returns the page of a plan side by side.
func sideOf(t rapid.TB, plan *millrace.Plan) string {
	t.Helper()
	var p page.Page
	for _, c := range plan.Outline() {
		if c.Kind != change.Modified {
			continue
		}
		d, err := page.Read(plan, c)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Row(page.Row{Change: c, Kind: c.Kind, Difference: d, Most: 1 << 20, Side: true}) {
			t.Fatal("the row is cut")
		}
	}
	return p.String()
}

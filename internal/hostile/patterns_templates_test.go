package hostile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
)

// The value of a template is text. A template in it, from the content or the name of a file, is not expanded again.
func TestHostile_template_in_value(t *testing.T) {
	t.Parallel()
	const bomb = "{{other.files}}"
	eachCommitting(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"bomb.txt": bomb + "\n", "dir/" + bomb: "fuse\n", "target.txt": "ONE AND TWO\n"})
		res, err := b.runOn(t, host(),
			act("search", obj{"pattern": "needle"}, id("other")),
			act("search", obj{"pattern": "fuse"}, id("named")),
			act("read_ranges", obj{"files": []string{"bomb.txt"}}, id("first")),
			act("read_ranges", obj{"files": []string{"bomb.txt"}}, id("second")),
			act("aggregate", obj{"separator": "{{named.files}}"}, obj{"input_from_all": []string{"first", "second"}}, id("joined")),
			editFile("target.txt", "ONE", "{{joined.aggregated_content}}", id("content")),
			editFile("target.txt", "TWO", "{{named.files}} \\{{other.count}}", id("name")))
		if err != nil {
			t.Fatal(err)
		}
		want := bomb + "\ndir/" + bomb + bomb + "\n AND dir/" + bomb + " {{other.count}}\n"
		if strings.HasPrefix(b.content(t, "target.txt"), "a.txt") {
			t.Errorf("expanded twice: %v", res)
		}
		if got := b.content(t, "target.txt"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Templates that refer to themselves or to each other in a circle are refused before anything runs.
func TestHostile_template_recursion(t *testing.T) {
	t.Parallel()
	a := func(with string) obj { return editFile("a.txt", "needle", with, id("a")) }
	b := func(with string) obj { return editFile("b.txt", "needle", with, id("b")) }
	for what, steps := range map[string][]obj{
		"itself": {a("{{a.count}}")},
		"circle": {a("{{b.files}}"), b("{{a.files}}")},
	} {
		t.Run(what, func(t *testing.T) {
			err := decodeBad(t, millrace.Decoder{}, pipeline(t, steps...))
			wantProblem(t, err, "forward_reference", "/steps/0/params/new_text")
		})
	}
}

// A text that grows tenfold with each step stays bounded.
func TestHostile_templates_that_multiply(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"seed.txt": strings.Repeat("0123456789", 100_000)})
		steps := []obj{
			act("read_ranges", obj{"files": []string{"seed.txt"}}, id("r0")), act("read_ranges", obj{"files": []string{"seed.txt"}}, id("r1")),
			act("aggregate", obj{}, obj{"input_from_all": []string{"r0", "r1"}}, id("joined")),
			editFile("a.txt", "needle", strings.Repeat("{{joined.aggregated_content}}", 1000)),
		}
		before := b.snapshot(t)
		_, err := b.runOn(t, host(), steps...)
		wantStepError(t, err, "edit", "new_text", nil)
		b.unchanged(t, before)
	})
}

// A comma in a file's name does not end the name.
func TestHostile_comma_in_file_name(t *testing.T) {
	t.Parallel()
	names := []string{"a,b.txt", "c.txt", `d\,e.txt`}
	eachCommitting(t, func(t *testing.T, b *backend) {
		for _, name := range names {
			b.plant(t, map[string]string{"in/" + name: "comma\n"})
		}
		b.plant(t, map[string]string{"list.txt": "LIST\n", "in/a": "not meant: comm\n", "in/b.txt": "not meant: comm\n"})
		res, err := b.runOn(t, host(),
			act("search", obj{"path": "in", "pattern": "comma"}, id("x")),
			editFile("list.txt", "LIST", "files: {{x.files}}", id("joined")),
			act("edit", obj{"files": "{{x.files}}", "old_text": "comma", "new_text": "COMMA"}, id("whole")),
			act("count_occurrences", obj{"files": []string{"{{x.files[0]}}"}, "pattern": "COMMA"}, id("one")))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := b.content(t, "list.txt"), `files: in/a\,b.txt,in/c.txt,in/d\\\,e.txt`+"\n"; got != want {
			t.Errorf("joined %q, want %q", got, want)
		}
		var want []string
		for _, name := range names {
			want = append(want, "in/"+name)
			if got := b.content(t, "in/"+name); got != "COMMA\n" {
				t.Errorf("%s is %q", name, got)
			}
		}
		if got := res.Results[2].FilesMatched; !slices.Equal(got, want) {
			t.Errorf("edited %q, want %q", got, want)
		}
		if got := res.Results[3].Counts["in/a,b.txt"]; got != 1 {
			t.Errorf("counts are %v", res.Results[3].Counts)
		}
	})
}

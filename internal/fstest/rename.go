package fstest

// kind is a kind of file at the old or new name of a rename.
type kind struct {
	name  string
	needs need
	dir   bool
	make  func(t tree, name string) // nil for nothing
}

func (k kind) put(t tree, name string) {
	t.Helper()
	if k.make != nil {
		k.make(t, name)
	}
}

func kinds() []kind {
	return []kind{
		{name: "nothing"},
		{name: "file", make: func(t tree, name string) { t.write(name, "data of "+name) }},
		{name: "empty dir", dir: true, make: func(t tree, name string) { t.mkdir(name) }},
		{name: "full dir", dir: true, make: func(t tree, name string) {
			t.mkdir(name, name+"/sub")
			t.write(name+"/sub/f", "below "+name)
		}},
		{name: "link", needs: links, make: func(t tree, name string) { t.symlink("target-of-"+name, name) }},
	}
}

// stands fails the test unless the name has a file of kind k that was made under the name made.
func (t tree) stands(k, name, made string) {
	t.Helper()
	switch k {
	case "nothing":
		t.gone(name)
	case "file":
		t.has(name, "data of "+made)
	case "empty dir":
		t.isDir(name)
		t.lists(name)
	case "full dir":
		t.isDir(name)
		t.lists(name, "sub")
		t.has(name+"/sub/f", "below "+made)
	case "link":
		t.isLink(name, "target-of-"+made)
	}
}

// renameError returns the error of rename(2) for the two kinds, and a nil function if it succeeds.
func renameError(from, to string) (string, func(error) bool) {
	dir := from == "empty dir" || from == "full dir"
	switch {
	case from == "nothing":
		return "not exist", IsNotExist
	case to == "nothing":
		return "", nil
	case dir && (to == "file" || to == "link"):
		return "not a directory", IsNotDir
	case dir && to == "full dir":
		return "not empty", IsNotEmpty
	case !dir && (to == "empty dir" || to == "full dir"):
		return "is a directory", IsDir
	}
	return "", nil
}

func renameChecks() []check {
	var checks []check
	for _, from := range kinds() {
		for _, to := range kinds() {
			needs := from.needs | to.needs
			if to.dir && from.make != nil {
				needs |= dirReplace
			}
			checks = append(checks, check{from.name + " to " + to.name, needs, func(t tree) {
				t.mkdir("d")
				from.put(t, "a")
				to.put(t, "d/b")
				err := t.fs.Rename("a", "d/b")
				if what, is := renameError(from.name, to.name); is != nil {
					t.want(err, what, is)
					t.stands(from.name, "a", "a")
					t.stands(to.name, "d/b", "d/b")
					return
				}
				t.must(err)
				t.gone("a")
				t.stands(from.name, "d/b", "a")
			}})
		}
	}
	for _, k := range kinds()[1:] {
		needs := k.needs
		if k.dir {
			needs |= dirReplace
		}
		checks = append(checks, check{k.name + " onto itself", needs, func(t tree) {
			k.put(t, "a")
			t.must(t.fs.Rename("a", "a"))
			t.stands(k.name, "a", "a")
		}})
	}
	return append(checks, []check{
		{"dir into itself", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.want(t.fs.Rename("d", "d/e"), "invalid", IsInvalid)
			t.has("d/f", "x")
			t.gone("d/e")
		}},
		{"dir far into itself", 0, func(t tree) {
			t.mkdir("d", "d/e")
			t.want(t.fs.Rename("d", "d/e/f"), "invalid", IsInvalid)
			t.isDir("d/e")
		}},
		{"dir over the one it is in", dirReplace, func(t tree) {
			t.mkdir("d", "d/e")
			t.want(t.fs.Rename("d/e", "d"), "not empty", IsNotEmpty)
			t.isDir("d/e")
		}},
		{"file over the directory it is in", dirReplace, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			// Linux checks the tree first, other systems the kinds.
			t.want(t.fs.Rename("d/f", "d"), "is a directory",
				func(err error) bool { return IsDir(err) || IsNotEmpty(err) })
			t.has("d/f", "x")
		}},
		{"into a missing directory", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.fs.Rename("f", "d/f"), "not exist", IsNotExist)
			t.has("f", "x")
			t.gone("d")
		}},
		{"from a missing directory", 0, func(t tree) {
			t.want(t.fs.Rename("d/f", "f"), "not exist", IsNotExist)
			t.gone("f")
		}},
		{"below a file", 0, func(t tree) {
			t.write("f", "x")
			t.write("g", "y")
			t.want(t.fs.Rename("f", "g/f"), "not a directory", IsNotDir)
			t.want(t.fs.Rename("g/f", "h"), "not a directory", IsNotDir)
			t.has("f", "x")
			t.has("g", "y")
		}},
		{"missing onto itself", 0, func(t tree) {
			t.want(t.fs.Rename("f", "f"), "not exist", IsNotExist)
		}},
		{"the root", 0, func(t tree) {
			t.mkdir("d")
			if t.fs.Rename(".", "x") == nil || t.fs.Rename("d", ".") == nil {
				t.Error("the root was renamed")
			}
			t.lists(".", "d")
		}},
		{"a whole tree", 0, func(t tree) {
			t.must(t.fs.MkdirAll("a/b/c", 0o755))
			t.write("a/1", "1")
			t.write("a/b/2", "2")
			t.write("a/b/c/3", "3")
			t.write("ab", "beside")
			t.mkdir("x")
			t.must(t.fs.Rename("a", "x/y"))
			t.gone("a")
			t.gone("a/b/c/3")
			t.has("x/y/1", "1")
			t.has("x/y/b/2", "2")
			t.has("x/y/b/c/3", "3")
			t.has("ab", "beside")
			t.lists(".", "ab", "x")
			t.lists("x/y", "1", "b")
			t.lists("x/y/b/c", "3")
		}},
		{"a tree whose name comes again below", 0, func(t tree) {
			t.must(t.fs.MkdirAll("a/a/a", 0o755))
			t.write("a/a/a/a", "x")
			t.must(t.fs.Rename("a", "b"))
			t.has("b/a/a/a", "x")
			t.must(t.fs.Rename("b/a", "a"))
			t.has("a/a/a", "x")
			t.lists("b")
		}},
		{"there and back", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.must(t.fs.Rename("d", "e"))
			t.must(t.fs.Rename("e", "d"))
			t.lists(".", "d")
			t.has("d/f", "x")
		}},
		{"swap by a third name", 0, func(t tree) {
			t.write("a", "1")
			t.write("b", "2")
			t.must(t.fs.Rename("a", "t"))
			t.must(t.fs.Rename("b", "a"))
			t.must(t.fs.Rename("t", "b"))
			t.has("a", "2")
			t.has("b", "1")
			t.lists(".", "a", "b")
		}},
		{"and write to the new name", 0, func(t tree) {
			t.write("a", "1")
			t.must(t.fs.Rename("a", "b"))
			t.write("b", "22")
			t.has("b", "22")
			t.write("a", "3")
			t.has("a", "3")
			t.has("b", "22")
		}},
		{"and remove at the new name", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.must(t.fs.Rename("d", "e"))
			t.must(t.fs.Remove("e/f"))
			t.must(t.fs.Remove("e"))
			t.lists(".")
		}},
		{"an emptied directory replaced", dirReplace, func(t tree) {
			t.mkdir("a", "b")
			t.write("a/f", "x")
			t.write("b/g", "y")
			t.must(t.fs.Remove("b/g"))
			t.must(t.fs.Rename("a", "b"))
			t.lists(".", "b")
			t.lists("b", "f")
		}},
		{"keeps mode and time", modes | times, func(t tree) {
			t.write("a", "x")
			t.must(t.fs.Chmod("a", 0o640))
			t.must(t.fs.Chtimes("a", when(), when()))
			t.must(t.fs.Rename("a", "b"))
			t.hasMode("b", 0o640)
			t.hasTime("b", when())
		}},
	}...)
}

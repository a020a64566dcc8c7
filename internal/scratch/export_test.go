package scratch

import "github.com/millrace-go/millrace/internal/rootfs"

// Blur hides some of the facts that a tree reads about its files, as on other systems. Call it before the first Renew.
func Blur(t *Tree, blur func(l *rootfs.Look)) { t.blur = blur }

// Fold makes a tree assume that its file system folds case.
func Fold(t *Tree) { t.folds = true }

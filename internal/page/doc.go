// Package page writes the parts of pages that show a plan: for package htmlreport, and for servers of such pages.
//
// Names and texts of others are shown by fsutil.Visible and escaped: they are text and never markup. All that is
// written is well-formed XML, too. Scripts and requests are for the policy of the page to forbid.
package page

import "bytes"

// Page is a part of a page that is being written. The zero Page is empty. Texts of others go through its methods Text,
// Message and Name. Text written to the buffer is HTML already.
type Page struct{ bytes.Buffer }

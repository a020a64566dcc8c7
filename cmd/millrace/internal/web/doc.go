// Package web serves pages to decide on a plan in a browser, at a loopback address. A page needs no script and loads
// nothing from elsewhere: its forms work alone, and the script only saves clicks. A visitor needs the token of
// its address; the browser gets a cookie for it. Names and texts are written by package page of htmlreport, as text.
package web

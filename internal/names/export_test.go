package names

var CleanFor = clean

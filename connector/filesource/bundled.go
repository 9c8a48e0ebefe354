package main

import (
	"embed"
	"io/fs"
)

// The bundled data is embedded with the names that begin with a dot, because
// one of them is the shop's password.
//
//go:embed all:data
var embedded embed.FS

// bundledRoot serves the data that comes with the program.
func bundledRoot() *root {
	data, err := fs.Sub(embedded, "data")
	if err != nil {
		panic(err) // the name above is valid
	}
	return fsRoot(data)
}

// bundledPassword is the password of the bundled tenant "shop". It is printed
// at the start, and a test holds it against the file.
const bundledPassword = "demo-password"

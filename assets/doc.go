// Package assets holds what is embedded into the program: the help texts of the pages.
//
//	help/KIND.txt   what the page KIND shows, for someone who has never seen Kafka; shown by ?
//
// # Why
//
//   - Texts are files, so that they can be read and mended without reading Go.
package assets

// Package web embeds the built web app. `npm run build` writes the app to the folder dist. Without a build, dist
// contains only .gitkeep, and the server logs a warning and serves only the API.
package web

import "embed"

// Dist contains the folder dist. The names of the files in dist/assets contain a hash
// of the content, so that browsers can cache these files permanently.
//
//go:embed all:dist
var Dist embed.FS

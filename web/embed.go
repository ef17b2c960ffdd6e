// Package web holds the built pages of the application. Dist is what `npm run build` left in dist; without a build it
// holds .gitkeep alone, and the server says so instead of serving pages.
package web

import "embed"

// Dist is the folder dist: index.html, and below assets/ files whose names
// hold a hash of their content, so that they may be cached for good.
//
//go:embed all:dist
var Dist embed.FS

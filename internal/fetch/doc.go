// Package fetch downloads files from addresses that other people wrote, and stores them as the
// content of attachments. It connects only to addresses that the guard of package hook allows,
// also after redirects, and limits the size, the time and the number of attempts.
package fetch

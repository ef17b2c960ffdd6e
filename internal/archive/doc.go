// Package archive reads and writes exports with files: zip archives with these entries.
//
//   - cardwall.json is the document, exactly as an export without files.
//   - files/SHA256 is the content of attached files, once for each different content, where
//     SHA256 is its hash in hexadecimal.
//
// Write stores all entries without compression. Open also accepts compressed entries, because
// people may unpack an archive and pack it again. It refuses an archive with any other entry,
// except for the folder files/ itself. Content to which the document does not refer is
// ignored.
package archive

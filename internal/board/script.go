package board

import "unicode"

// JoinsWords reports whether a character belongs to a script whose words join their
// neighbors without a space: one written without spaces between words (classes ID, SA and
// AK of Unicode's line breaking, UAX #14), or Hangul, where particles are attached to the
// word before, even to one in Latin letters. Tibetan does not belong here, because it
// marks the end of each syllable.
func JoinsWords(r rune) bool {
	return r >= 0xE00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
		unicode.Yi, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Le, unicode.New_Tai_Lue,
		unicode.Tai_Tham, unicode.Tai_Viet, unicode.Javanese, unicode.Balinese) || r == 'ー')
}

package attach

import (
	"image"
	"image/color"
	"testing"

	"golang.org/x/image/draw"
)

// Halving in strips has the same result as halving the whole picture several times.
func TestHalve(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1600, 1200}, {1600, 40}, {16, 1600}, {320, 200}} {
		picture := image.NewRGBA(image.Rect(10, 20, 10+size.X, 20+size.Y)) // a picture need not begin at 0, 0
		for y := picture.Rect.Min.Y; y < picture.Rect.Max.Y; y++ {
			for x := picture.Rect.Min.X; x < picture.Rect.Max.X; x++ {
				picture.SetRGBA(x, y, color.RGBA{uint8(x), uint8(y), uint8(x * y), 255})
			}
		}
		const side = 90
		var want image.Image = picture
		for range halvings(size.X, size.Y, side) {
			half := image.NewRGBA(image.Rect(0, 0, max(1, want.Bounds().Dx()/2), max(1, want.Bounds().Dy()/2)))
			draw.ApproxBiLinear.Scale(half, half.Rect, want, want.Bounds(), draw.Src, nil)
			want = half
		}
		got := halve(picture, side)
		if got.Bounds() != want.Bounds() {
			t.Errorf("%v: got bounds %v, want %v", size, got.Bounds(), want.Bounds())
			continue
		}
		for y := range want.Bounds().Dy() {
			for x := range want.Bounds().Dx() {
				if got.At(x, y) != want.At(x, y) {
					t.Fatalf("%v: pixel (%d, %d) is %v, want %v", size, x, y, got.At(x, y), want.At(x, y))
				}
			}
		}
	}
}

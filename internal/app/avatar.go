package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// DownloadAvatarInput is the input of DownloadAvatar.
type DownloadAvatarInput struct {
	UserID  string `json:"userId" maxLength:"64" doc:"The id of the person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Version string `json:"version,omitempty" maxLength:"64" doc:"The version of the picture, from the avatar field of the person. If it is the current one, the response may be cached for a year." example:"9f86d081884c7d65"`
}

// DownloadAvatar returns the picture of a person. It returns a not_found error if the person
// has none, or is not someone whom the caller can see.
func DownloadAvatar(ctx context.Context, v *store.View, in DownloadAvatarInput) (board.Content, error) {
	a, err := v.Avatar(ctx, in.UserID)
	if err != nil {
		return board.Content{}, err
	}
	return board.Content{Name: "avatar", At: a.At, Picture: &a.Picture, Kept: in.Version == a.Version()}, nil
}

// maxAvatars is the maximum number of people that ListAvatars returns.
const maxAvatars = 2000

// Avatars lists people who have a picture.
type Avatars struct {
	People []board.Pictured `json:"people" doc:"The first 2,000 people who have a picture, among those whom the caller can see."`
}

// ListAvatars returns the people who have a picture. Pages need it for people in responses
// that contain only names.
func ListAvatars(ctx context.Context, v *store.View, _ Nothing) (Avatars, error) {
	people, err := v.Avatars(ctx, maxAvatars)
	return Avatars{people}, err
}

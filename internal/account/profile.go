package account

import (
	"context"

	"golang.org/x/text/language"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// UpdateProfileInput changes the fields that are present.
type UpdateProfileInput struct {
	Name     *string      `json:"name,omitempty" minLength:"1" maxLength:"512" doc:"New display name." example:"Ada King"`
	TimeZone *string      `json:"timeZone,omitempty" maxLength:"64" doc:"New IANA time zone, which determines the current day." example:"Europe/Paris"`
	Theme    *board.Theme `json:"theme,omitempty" enum:"system,light,dark" doc:"New color theme. system follows the setting of the operating system." example:"dark"`
	Language *string      `json:"language,omitempty" maxLength:"35" doc:"New language of some dates on the pages, as a BCP 47 tag." example:"en-GB"`
}

// UpdateProfile changes the caller's profile.
func UpdateProfile(ctx context.Context, tx *store.Tx, in UpdateProfileInput) (board.Profile, error) {
	p, err := tx.Profile(ctx)
	if err != nil {
		return p, err
	}
	if in.Name != nil {
		if p.Name, err = app.Title("name", *in.Name); err != nil {
			return p, err
		}
	}
	if in.TimeZone != nil {
		if _, err := board.LoadZone("timeZone", *in.TimeZone); err != nil {
			return p, err
		}
		p.TimeZone = *in.TimeZone
	}
	if in.Theme != nil {
		p.Theme = *in.Theme
	}
	if in.Language != nil {
		tag, err := language.Parse(*in.Language)
		if err != nil || tag.IsRoot() {
			return p, board.Invalid("language must be a BCP 47 tag such as en or en-GB.").
				In("language", board.RuleValue)
		}
		p.Language = tag.String()
	}
	return p, tx.UpdateProfile(ctx, p)
}

// ChangePasswordInput is the current and the new password.
type ChangePasswordInput struct {
	Current  string `json:"currentPassword,omitempty" maxLength:"1000" doc:"Current password; omit it if the account has none." example:"tulip harbor 47 sky"`
	Password string `json:"password" maxLength:"1000" doc:"New password of at least 10 characters and at most 1,000 bytes." example:"correct horse battery"`

	hash  string
	proof proof // of the current password; empty if the account has none
}

func (a *Accounts) beforeChangePassword(ctx context.Context, db *store.DB, caller board.Caller, in *ChangePasswordInput) error {
	var (
		p    board.Profile
		hash string
	)
	if err := db.Read(ctx, caller, func(v *store.View) (err error) {
		if p, err = v.Profile(ctx); err != nil {
			return err
		}
		if _, hash, err = v.PasswordOf(ctx, p.Email); err == nil && hash == "" {
			err = op.CheckRecent(ctx, v)
		}
		return err
	}); err != nil {
		return err
	}
	if err := CheckPassword(in.Password, p.Email, p.Name); err != nil {
		return err
	}
	if hash != "" {
		if in.Current == "" {
			return board.Invalid("currentPassword is required. Enter the password that you sign in with now.").
				In("currentPassword", board.RuleRequired)
		}
		var err error
		if in.proof, err = a.prove(ctx, db, caller, p.Email, in.Current); board.IsCode(err, board.CodeUnauthenticated) {
			err = board.Forbidden("The current password is wrong.")
		}
		if err != nil {
			return err
		}
	}
	var err error
	in.hash, err = a.passwords.hash(ctx, in.Password, p.Email, p.Name)
	return err
}

// ChangePassword sets a new password for the caller's account and ends all other
// sessions.
func (a *Accounts) ChangePassword(ctx context.Context, tx *store.Tx, in ChangePasswordInput) (SignedIn, error) {
	userID := tx.Caller().UserID
	if in.proof.userID != "" {
		if err := in.proof.recheck(ctx, tx); board.IsCode(err, board.CodeUnauthenticated) {
			return SignedIn{}, board.Forbidden("The password was changed a moment ago. Reload the page and try again.")
		} else if err != nil {
			return SignedIn{}, err
		}
	}
	if err := tx.SetPassword(ctx, userID, in.hash); err != nil {
		return SignedIn{}, err
	}
	if _, err := tx.DeleteResetSecrets(ctx, userID); err != nil {
		return SignedIn{}, err
	}
	if err := tx.EndOtherSessions(ctx); err != nil {
		return SignedIn{}, err
	}
	if err := tx.InsertEmail(ctx, board.EmailPasswordChanged, userID, 0); err != nil {
		return SignedIn{}, err
	}
	return signedIn(ctx, tx.View)
}

// DeleteAccount removes the caller from all workspaces and deletes the account. It
// fails if the caller is the last owner of a workspace.
func DeleteAccount(ctx context.Context, tx *store.Tx, _ Nothing) (SignedOut, error) {
	userID := tx.Caller().UserID
	spaces, err := workspacesToLeave(ctx, tx.View)
	if err != nil {
		return SignedOut{}, err
	}
	for _, w := range spaces {
		in := app.RemoveMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: w.ID}, UserID: userID}
		if _, err := app.RemoveMember(ctx, tx, in); err != nil {
			return SignedOut{}, err
		}
	}
	return SignedOut{}, tx.DeleteUser(ctx, userID)
}

// workspacesToLeave returns the caller's workspaces. It returns an error if the caller is
// the last owner of one of them.
func workspacesToLeave(ctx context.Context, v *store.View) ([]board.Workspace, error) {
	var spaces []board.Workspace
	for after, more := "", true; more; {
		page, err := v.Workspaces(ctx, after, maxWorkspaces)
		if err != nil {
			return nil, err
		}
		spaces = append(spaces, page...)
		if more = len(page) == maxWorkspaces; more {
			after = page[len(page)-1].ID
		}
	}
	for _, w := range spaces {
		if w.Role != board.WorkspaceOwner {
			continue
		}
		other, err := v.OtherOwner(ctx, w.ID, v.Caller().UserID)
		if err == nil && other == "" {
			err = board.Forbidden("You are the last owner of the workspace %q. Make someone else an owner first.", w.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return spaces, nil
}

// beforeDeleteAccount checks that the caller can leave all workspaces, and unassigns the
// caller from most cards in short transactions.
func beforeDeleteAccount(ctx context.Context, db *store.DB, caller board.Caller, _ *Nothing) error {
	var ids []string
	if err := db.Read(ctx, caller, func(v *store.View) error {
		spaces, err := workspacesToLeave(ctx, v)
		ids = nil
		for _, w := range spaces {
			ids = append(ids, w.ID)
		}
		return err
	}); err != nil {
		return err
	}
	return app.UnassignLeaving(ctx, db, caller, "delete_account", ids)
}

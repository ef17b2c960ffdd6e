package board

import "fmt"

// Upload is a file that a client sends in parts, in one or more requests.
type Upload struct {
	ID           string  `json:"id" doc:"The upload's id." example:"upl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID       string  `json:"cardId" doc:"The id of the card to which the file will be attached." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name         string  `json:"name" doc:"The file name." example:"Tour.mp4"`
	Size         int64   `json:"size" doc:"The size of the file in bytes." example:"48211160"`
	Offset       int64   `json:"offset" doc:"The number of bytes that the server has stored. Continue at this offset." example:"16777216"`
	AttachmentID *string `json:"attachmentId" doc:"The id of the attachment; null until the file is complete." example:"att_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt    Instant `json:"createdAt" format:"date-time" doc:"When the upload was created." example:"2026-03-02T09:00:00.000Z"`
	ExpiresAt    Instant `json:"expiresAt" format:"date-time" doc:"When the upload ends, even if it is not complete." example:"2026-03-03T09:00:00.000Z"`
}

// At returns an error unless the next part of the upload begins at offset.
func (u Upload) At(offset int64) error {
	f := Invalid("Upload-Offset is %d, but the server has stored %d bytes. Continue at that offset.", offset, u.Offset)
	f.Cause = CauseOffset
	switch {
	case u.AttachmentID != nil:
		f.Message = "The upload is already complete."
		return f
	case u.Offset != offset:
		return f
	}
	return nil
}

// FileTooLarge returns the fault for a file that is larger than an organization's plan allows.
func FileTooLarge(limit Bytes) *Fault {
	return &Fault{
		Code:    CodePlanLimit,
		Message: fmt.Sprintf("The file is larger than %s, the limit of the organization's plan.", limit),
	}
}

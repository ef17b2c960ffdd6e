package main
func failOver(t *torment) error {return nil}
func breakNodes(t *torment) error {return nil}
func stepClock(t *torment) error {return nil}
func crowd(t *torment) error {return nil}
func overload(t *torment) error {return nil}
func revokeTokens(t *torment) error {return nil}
func virtualHours(t *torment) error {return nil}

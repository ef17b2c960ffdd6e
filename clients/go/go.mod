module cardwall/clients/go

go 1.24.0

module schedlab.test/naive

go 1.25

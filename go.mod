module github.com/ditlens/ditlens

go 1.26

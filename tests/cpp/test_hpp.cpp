/* SPDX-License-Identifier: BSD-3-Clause
 * cippus.hpp: compiled as C++17 and as C++20, with and without exceptions and run-time types. */
#include "cippus/cippus.hpp"

#include <cmath>
#include <cstring>
#include <unistd.h>
#include <vector>

static int nfailed;

static void expect(bool what, int line, const char *text)
{
    if (!what)
        std::printf("%d: %s\n", line, text);
    nfailed += !what;
}
#define EXPECT(...) expect((__VA_ARGS__), __LINE__, #__VA_ARGS__)

static std::string sample(const char *name)
{
    return std::string(CIP_SOURCE_DIR "/samples/") + name;
}

static void arrays_are_listed()
{
    cip::file f = *cip::file::open(sample("roman.asdf").c_str());
    std::string seen;
    for (cip::array a : f)
        seen += std::string(a.path()) + ":" + std::to_string(a.shape().size()) + " ";
    EXPECT(seen == "roman/data:2 roman/dq:2 roman/err:2 ");
    EXPECT(std::strcmp(f.format(), "asdf") == 0);
}

static void typed_reads_have_a_shape()
{
    cip::file f = *cip::file::open(sample("night.asdf").c_str());
    cip::values<double> text = *f.read<double>("image", "[10:12, -3:]");
    EXPECT(text.size() == 6 && text.shape().size() == 2 && text.shape()[1] == 3);
    cip::values<float> row = *f.read<float>("image", { cip::index(11), cip::range(-3) });
    EXPECT(row.shape().size() == 1 && row.size() == 3);
    EXPECT(row[0] == static_cast<float>(text(1, 0)) && row(2) == static_cast<float>(text(1, 2)));
    float into[3] = {};
    EXPECT(bool(f.find("image")->read_into<float>(into, { cip::index(11), cip::range(-3) })));
    EXPECT(into[1] == row[1]);
    EXPECT(f.find("image")->read_into<float>(into, "[0]").status() == CIP_ERR_RANGE);
    EXPECT(f.read<uint8_t>("image").status() == CIP_ERR_RANGE); /* no value is changed unasked */
    cip_read_args clamp{};
    clamp.overflow = CIP_OVERFLOW_CLAMP;
    EXPECT(bool(f.find("image")->read<uint8_t>({}, clamp)));
    cip_read_args flux{};
    flux.field = "flux";
    EXPECT(f.find("stars")->read<float>("[::2]", flux)->size() == 3);
    EXPECT(f.find("image")->stats({ cip::index(0) })->nelem == 160);
}

static void a_picture_outlives_its_file()
{
    cip::picture p;
    {
        cip::file f = *cip::file::open(sample("night.asdf").c_str());
        cip_picture_options how{};
        how.max_width = 40;
        p = *cip::picture::make(*f.find("image"), "[:60, :80]", how);
        how.map = "none";
        EXPECT(cip::picture::make(*f.find("image"), {}, how).status() == CIP_ERR_ARG);
    }
    const cip_picture_facts facts = p.facts();
    EXPECT(facts.width == 40 && facts.height == 30 && facts.across.step == 2);
    EXPECT(facts.pixels[4 * 40 * 30 - 1] == 0xff);
    EXPECT(cip::picture().facts().width == 0);
}

static void what_is_masked_is_asked_for()
{
    cip::file f = *cip::file::open(sample("night.asdf").c_str());
    cip::array a = *f.find("masked");
    const std::size_t n = cip::detail::product(a.shape());
    std::vector<double> into(n, 7);
    std::vector<uint8_t> mask(n);
    EXPECT(a.read<double>().status() == CIP_ERR_UNSUPPORTED);
    EXPECT(f.read<float>("masked").status() == CIP_ERR_UNSUPPORTED);
    EXPECT(a.read_into<double>(into).status() == CIP_ERR_UNSUPPORTED && into[0] == 7);
    cip_read_args with{};
    with.mask = mask.data();
    EXPECT(bool(a.read_into<double>(into, {}, with)));
    EXPECT(a.read<double>({}, with)->size() == n);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < n; i++) {
        const auto one = a.read<double>({ cip::index(static_cast<int64_t>(i) / a.shape()[1]),
                                          cip::index(static_cast<int64_t>(i) % a.shape()[1]) });
        EXPECT(mask[i] != 0 ? one.status() == CIP_ERR_UNSUPPORTED : (*one)[0] == into[i]);
        missing += mask[i];
    }
    EXPECT(missing != 0 && missing != n);
}

static void errors_are_values()
{
    cip::result<cip::file> none = cip::file::open("/nowhere/x.asdf");
    EXPECT(!none && none.status() == CIP_ERR_NOT_FOUND && none.text()[0] != '\0');
    cip::file f = *cip::file::open(sample("roman.asdf").c_str());
    EXPECT(f.find("roman/dta").status() == CIP_ERR_NOT_FOUND);
    EXPECT(f.read<float>("roman/dta").status() == CIP_ERR_NOT_FOUND);
    EXPECT(f.tree().get<double>("roman/none").status() == CIP_ERR_NOT_FOUND);
    EXPECT(f.tree().get<double>("roman/none").value_or(2.5) == 2.5);
    EXPECT(cip::node().get<int>("a").status() == CIP_ERR_ARG);
    EXPECT(cip::file().size() == 0 && cip::array().read<int>().status() == CIP_ERR_ARG);
}

static void trees_are_walked()
{
    cip::file f = *cip::file::open(sample("roman.asdf").c_str());
    EXPECT(*f.tree().get<double>("roman/meta/exposure/exposure_time") == 107.5);
    EXPECT(*f.tree().get<int>("roman/meta/exposure/nresultants") == 8);
    EXPECT(*f.tree().get<std::string_view>("roman/meta/telescope") == "ROMAN");
    EXPECT(*f.tree().get<std::string>("roman/meta/telescope") == "ROMAN");
    std::string keys;
    cip::node meta = *f.tree().at("roman/meta/instrument");
    for (std::size_t i = 0; i < meta.size(); i++)
        keys += std::string(meta.key(i).text()) + "=" + std::string(meta[i].text()) + " ";
    EXPECT(keys == "detector=WFI01 name=WFI optical_element=F158 ");
}

static void views_have_the_type_of_the_array()
{
    cip::file f = *cip::file::open(sample("complex.ra").c_str());
    cip::array a = *f.find("");
    EXPECT(a.view<float>().status() == CIP_ERR_TYPE);
    auto view = a.view<std::complex<float>>();
    EXPECT(bool(view) && view->size() == 12 && (*view)[1] == (*a.read<std::complex<float>>())[1]);
}

static void handles_move_and_end_once()
{
    cip::file a = *cip::file::open(sample("night.asdf").c_str());
    cip_file *raw = a.get();
    cip::file b = std::move(a);
    EXPECT(a.get() == nullptr && b.get() == raw);
    cip::file c;
    c = std::move(b);
    EXPECT(c.get() == raw);
    std::vector<cip::file> many;
    many.push_back(std::move(c));
    many.push_back(*cip::file::open(sample("roman.asdf").c_str()));
    EXPECT(many[1].size() == 3);
    static_assert(!std::is_copy_constructible_v<cip::file>, "it has one owner");
    cip::dtype d;
    EXPECT(cip_dtype_nfield(*d.out() = cip_dtype_parse("{x: float32, n: uint16}", nullptr)) == 2);
}

/* A file in memory, written, read, updated. */
static void what_is_written_is_read()
{
    std::vector<float> pixels(6);
    pixels[4] = 1.5F;
    cip::memory m;
    cip::change w;
    cip_create_memory("asdf", nullptr, m.out(), w.out(), nullptr);
    cip_array_options lz4{};
    lz4.codec = "lz4";
    w.set("meta/name", "WFI")
        .set("meta/n", 3)
        .set("meta/big", UINT64_C(1) << 60)
        .set("meta/x", 0.5);
    w.set("meta/ok", true).set("meta/none", nullptr).set_yaml("meta/list", "[1, 2]");
    w.put<float>("image", { 2, 3 }, pixels, lz4);
    const int16_t cube[4] = { 0, 0, 1, 1 };
    w.put<int16_t>("cube", { 2, 2 }, cube);
    EXPECT(bool(w.commit()));

    std::size_t n = 0;
    const void *bytes = cip_memory_bytes(m.get(), &n);
    cip::file f = *cip::file::open(bytes, n);
    EXPECT((*f.read<float>("image"))(1, 1) == 1.5F && (*f.read<int>("cube"))(1, 0) == 1);
    EXPECT(*f.tree().get<uint64_t>("meta/big") == UINT64_C(1) << 60 &&
           *f.tree().get<bool>("meta/ok"));
    EXPECT(f.tree().get<int8_t>("meta/big").status() == CIP_ERR_RANGE);

    cip::change e;
    cip_change_open_memory(m.get(), nullptr, e.out(), nullptr);
    e.set("meta/n", 4U).set("meta/name", std::string("NIR")).remove("meta/x");
    e.write<float>("image", "[0]", cip::span<const float>(&pixels[3], 3));
    const int32_t whole[1] = { 7 };
    e.write<int32_t>("image", "[1, 0]", whole); /* cast, not its bytes */
    const double column[2] = { 5, 6 };
    e.insert<double>("cube", 1, 1, column);
    EXPECT(bool(e.commit()));
    bytes = cip_memory_bytes(m.get(), &n);
    EXPECT((*(*cip::file::open(bytes, n)).read<float>("image"))(1, 0) == 7.0F);
    EXPECT((*(*cip::file::open(bytes, n)).read<int>("cube"))(1, 1) == 6);
    const double half[1] = { 0.5 };
    cip_change_open_memory(m.get(), nullptr, e.out(), nullptr);
    EXPECT(e.write<double>("cube", "[0, 0]", half).commit().status() == CIP_ERR_RANGE);
    bytes = cip_memory_bytes(m.get(), &n);
    f = *cip::file::open(bytes, n);
    EXPECT(*f.tree().get<int>("meta/n") == 4 && (*f.read<float>("image"))(0, 1) == 1.5F);
}

static void a_change_goes_back_to_a_mark()
{
    cip::memory m;
    cip::change w;
    const double half[1] = { 0.5 };
    const int32_t seven[1] = { 7 }, four[4] = { 1, 2, 3, 4 };
    cip_create_memory("asdf", nullptr, m.out(), w.out(), nullptr);
    w.put<int32_t>("a", { 4 }, four);
    const uint64_t first = *w.mark();
    w.write<int32_t>("a", "[0]", seven);
    EXPECT(*w.mark() > first);
    w.append<int32_t>("a", seven).write<double>("a", "[0]", half); /* which fails */
    EXPECT(w.mark().status() == CIP_ERR_RANGE);
    w.undo().forget().set("n", 1);
    EXPECT(bool(w.commit()));
    std::size_t n = 0;
    const void *bytes = cip_memory_bytes(m.get(), &n);
    cip::file f = *cip::file::open(bytes, n);
    EXPECT((*f.read<int>("a")).size() == 4 && (*f.read<int>("a"))[0] == 7);
    EXPECT(*f.tree().get<int>("n") == 1);
}

static void the_first_error_ends_a_chain()
{
    cip::memory m;
    cip::change w;
    const float three[3] = { 1, 2, 3 };
    cip_create_memory("asdf", nullptr, m.out(), w.out(), nullptr);
    w.put<float>("image", { 2, 2 }, three).set("a", 1);
    EXPECT(w.commit().status() == CIP_ERR_RANGE);
    EXPECT(cip_memory_bytes(m.get(), nullptr) == nullptr);
    EXPECT(cip::change::create("/nowhere/x.asdf").status() == CIP_ERR_NOT_FOUND);
    EXPECT(cip::change::open("/nowhere/x.asdf").status() == CIP_ERR_NOT_FOUND);
}

static void a_commit_that_is_busy_keeps_the_edit()
{
    char folder[] = "/tmp/cippus_hpp_XXXXXX";
    EXPECT(mkdtemp(folder) != nullptr);
    const std::string name = std::string(folder) + "/x.asdf";
    const std::vector<int32_t> zeros(4096), ones(4096, 1);
    cip::change w = *cip::change::create(name.c_str());
    EXPECT(bool(w.put<int32_t>("a", { 4096 }, zeros).commit()));
    cip::file reader = *cip::file::open(name.c_str());
    cip::change e = *cip::change::open(name.c_str());
    e.write<int32_t>("a", "", ones);
    EXPECT(e.commit().status() == CIP_ERR_BUSY && e.get() != nullptr);
    reader = cip::file();
    EXPECT(bool(e.commit()) && e.get() == nullptr);
    EXPECT((*cip::file::open(name.c_str())->read<int>("a"))[4095] == 1);
    std::remove(name.c_str());
    rmdir(folder);
}

int main()
{
    arrays_are_listed();
    typed_reads_have_a_shape();
    a_picture_outlives_its_file();
    what_is_masked_is_asked_for();
    errors_are_values();
    trees_are_walked();
    views_have_the_type_of_the_array();
    handles_move_and_end_once();
    what_is_written_is_read();
    a_change_goes_back_to_a_mark();
    the_first_error_ends_a_chain();
    a_commit_that_is_busy_keeps_the_edit();
    return nfailed != 0;
}

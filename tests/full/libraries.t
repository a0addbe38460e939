#!/usr/bin/perl

# The image "full": what it has beyond "data" does its work in a sandbox, with
# the default limits, looked at by its results.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

chomp(my $root = `\Q$Retort::Service::TOP\E/auto/image --profile full --print`);
die "no image \"full\": run auto/image --profile full\n" if $? || !-d $root;

# limits as packaging/etc/profiles/default.conf has them
my $s = Retort::Service->new(profiles => { default => { rootfs => $root,
    memory => '512m 2g', processes => '64 256', disk => '256m 1g', tmp => '64m 256m' } });
my $pixels = 'import numpy as np, io; from PIL import Image';

# what does it, the code, what it says

my @python = (
    ['OpenCV' => "import cv2, numpy as np\na = np.zeros((40, 60, 3), np.uint8)\n"
        . "cv2.circle(a, (30, 20), 9, (255, 255, 255), -1)\ncv2.imwrite('a.png', a)\n"
        . "b = cv2.resize(cv2.GaussianBlur(cv2.imread('a.png'), (3, 3), 0), (120, 80))\n"
        . 'print(b.shape, int(b[40, 60, 0]), int(b[0, 0, 0]))', '(80, 120, 3) 255 0'],
    ['scikit-image' => "import numpy as np\nfrom skimage import filters, measure\n"
        . "a = np.zeros((20, 20)); a[2:5, 2:5] = a[9:12, 9:12] = 1\n"
        . 'print(measure.label(a).max(), filters.threshold_otsu(a) < 1)', '2 True'],
    ['XGBoost' => "import numpy as np, xgboost as x\na = np.arange(40.).reshape(-1, 1)\n"
        . "m = x.XGBClassifier(n_estimators=5).fit(a, a[:, 0] > 20)\nprint(m.predict(a)[[0, 39]])",
        '[0 1]'],
    ['numba' => "import numba\n\@numba.njit\ndef f(n):\n    s = 0\n    for i in range(n): s += i\n"
        . '    return s' . "\nprint(f(10), numba.get_num_threads())", '45 1'],
    ['GeoPandas, Shapely, PROJ' => "import geopandas as g\nfrom shapely.geometry import Point\n"
        . "f = g.GeoDataFrame({'n': ['a']}, geometry=[Point(13.4, 52.5)], crs=4326)\n"
        . "f.to_file('a.geojson', driver='GeoJSON')\n"
        . "print(round(g.read_file('a.geojson').to_crs(3857).geometry[0].x))", '1491681'],
    ['rasterio' => "import numpy as np, rasterio, warnings; warnings.simplefilter('ignore')\n"
        . "with rasterio.open('a.tif', 'w', driver='GTiff', width=4, height=3, count=1, "
        . "dtype='uint8') as f: f.write(np.full((3, 4), 7, 'uint8'), 1)\n"
        . "print(rasterio.open('a.tif').read(1).sum())", '84'],
    ['PyMuPDF, pdfminer, pikepdf, pypdf' => "import fitz, pikepdf, pypdf\n"
        . "from pdfminer.high_level import extract_text\nd = fitz.open()\n"
        . "d.new_page().insert_text((72, 72), 'hello'); d.save('a.pdf')\n"
        . "print(extract_text('a.pdf').strip(), len(pikepdf.open('a.pdf').pages), "
        . "pypdf.PdfReader('a.pdf').pages[0].extract_text().strip())", 'hello 1 hello'],
    ['reportlab, img2pdf' => "$pixels\nimport img2pdf\nImage.new('RGB', (9, 9)).save('b.png')\n"
        . "print(img2pdf.convert('b.png')[:5])", "b'%PDF-'"],
    ['CairoSVG' => "$pixels\nimport cairosvg\nb = cairosvg.svg2png(b'<svg xmlns=\"http://www.w3.org/2000/svg\" "
        . "width=\"20\" height=\"10\"><rect width=\"20\" height=\"10\" fill=\"red\"/></svg>')\n"
        . 'i = Image.open(io.BytesIO(b)).convert("RGB"); print(i.size, i.getpixel((5, 5)))',
        '(20, 10) (255, 0, 0)'],
    ['a cloud of Chinese words' => "from wordcloud import WordCloud\n"
        . "a = WordCloud(width=80, height=60).generate_from_frequencies({'数据': 3, 'data': 2})"
        . ".to_array()\nprint(a.shape, a.max() > 90)", '(60, 80, 3) True'],
    ['NLTK, regex' => "import regex\nfrom nltk.stem import PorterStemmer\n"
        . "print(PorterStemmer().stem('running'), regex.findall(r'\\p{Han}+', 'a数据b'))",
        "run ['数据']"],
    ['xarray, netCDF by SciPy' => "import xarray as x\nx.Dataset({'a': ('t', [1, 2])}).to_netcdf("
        . "'a.nc', engine='scipy')\nprint(int(x.open_dataset('a.nc', engine='scipy').a.sum()))", '3'],
    ['PuLP' => "import pulp\np = pulp.LpProblem('p', pulp.LpMaximize); x = pulp.LpVariable('x', 0, 4)\n"
        . "p += x\nprint(len(p.variables()))", '1'],
    ['documents' => "import markdown, mistune, html2text, docx, chardet, magic\n"
        . "from ebooklib import epub\nd = docx.Document(); d.add_paragraph('p'); d.save('a.docx')\n"
        . "print(markdown.markdown('*a*'), html2text.html2text('<b>b</b>').strip(), "
        . "docx.Document('a.docx').paragraphs[0].text, chardet.detect(b'a')['encoding'], "
        . "magic.from_file('a.docx', mime=True).split('/')[0])",
        '<p><em>a</em></p> **b** p ascii application'],
    ['QR codes' => "$pixels\nimport qrcode\nprint(qrcode.make('a').size[0] > 100)", 'True'],
    ['maps and charts as pages' => "import altair as alt, pandas as pd, folium, warnings\n"
        . "warnings.simplefilter('ignore')\n"
        . "c = alt.Chart(pd.DataFrame({'a': [1, 2]})).mark_bar().encode(x='a')\n"
        . "folium.Map([0, 0]).save('m.html'); print(c.to_dict()['mark'], "
        . "'leaflet' in open('m.html').read())", 'bar True'],
    ['Graphviz' => "import graphviz\ng = graphviz.Digraph(); g.edge('a', 'b')\n"
        . "print(g.pipe('png')[1:4])", "b'PNG'"],
    ['cryptography, imageio, rich, click' => "from cryptography.fernet import Fernet\n"
        . "import imageio, rich, click, patsy, pytz, dateutil, mpmath, joblib\n"
        . "f = Fernet(Fernet.generate_key()); print(f.decrypt(f.encrypt(b'x')))", "b'x'"],
);

for my $row (@python) {
    my ($name, $code, $want) = @$row;
    my $r = $s->run($code, timeout => 50);
    is($r->{stdout}, "$want\n", "$name: result") or diag($r->{error}{traceback} // $r->{stderr});
    is($r->{stderr}, '', '... without a word');
}

my @bash = (
    [q(echo '{"a": [1, 2]}' | jq -c .a), '[1,2]'], ['echo needle > x; rg -l needle', 'x'],
    ['touch find.me; fdfind me', 'find.me'], ['echo "2^70" | bc', '1180591620717411303424'],
    ['convert -size 8x6 xc:red r.png && convert r.png r.gif && identify r.gif | cut -d" " -f2,3',
        'GIF 8x6'],
    ['python3 -c "import fitz; d = fitz.open(); d.new_page(); d.save(\'p.pdf\')" && '
        . 'pdftoppm -r 9 -png p.pdf q && ls q*.png', 'q-1.png'],
    ['echo t > t.txt; 7zz a -bso0 t.7z t.txt && 7zz l -ba t.7z | grep -c t.txt', '1'],
    ['sqlite3 d.db "create table t(a); insert into t values(3); select a from t"', '3'],
    ['printf "digraph { a -> b }" | dot -Tsvg | grep -c "<title>a</title>"', '1'],
    [q(printf 'a,b\n1,2\n' | gawk -F, 'END { print $1 + $2 }'), '3'],
    ['mkdir -p d/e; tree -i --noreport d | tail -1', 'e'], ['qpdf --version | grep -c qpdf', '2'],
    ['python3 --version | cut -d. -f1,2; python -c "print(5)"', "Python 3.11\n5"],
);

for my $row (@bash) {
    my $r = $s->bash($row->[0]);
    is("$r->{stdout}$r->{stderr}", "$row->[1]\n", $row->[0]);
}

# processors

for my $n (1, 2) {
    my $r = $s->run("import cv2, os, subprocess, sys\nprint(cv2.getNumThreads(), subprocess.run("
        . "[sys.executable, '-c', 'import cv2; print(cv2.getNumThreads())'], "
        . "capture_output=True, text=True).stdout)", limits => { cpu => $n }, timeout => 50);
    is($r->{stdout}, "$n $n\n\n", "with cpu=$n OpenCV has $n threads, in children as well");
}

$s->end;
done_testing;
